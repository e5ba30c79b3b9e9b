#!/usr/bin/env node
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { defaultDevices, numberIn, OptionError, type DeviceOptions } from './device-options';
import {
  DEFAULT_CREDENTIALS,
  DEFAULT_DEVICES,
  MAX_DEVICES,
  type SimulatorOptions,
} from './options';
import { startSimulator, type Simulator } from './simulator';

const NAME = '@device-cloud/node-red-device-cloud';
const DEFAULT_PORT = 8787;

const HELP = `Usage: device-cloud-simulator [options]

Runs the whole device cloud service on this machine, reachable from this machine only.

  --port <number>              port, 0 for any free one (default ${DEFAULT_PORT})
  --devices <number>           number of devices, with chip numbers from 10000001 (default 3)
  --appid <digits>             default ${DEFAULT_CREDENTIALS.appid}
  --appkey <text>              default ${DEFAULT_CREDENTIALS.appkey}, with public-2016 one of 32 digits
  --server-key <text>          default ${DEFAULT_CREDENTIALS.serverKey}
  --server-password <text>     default ${DEFAULT_CREDENTIALS.serverPassword}
  --interval <seconds>         time between two uploads of a device, 0 to turn them off (default 5)
  --dialect <which>            document answers as the service's document says; public-2016 answers as the
                               public server of 2016 did (default document)
  --replace                    a newer channel of a device closes the older one
  --sleep <device:awake/every> lets a device sleep and wake by itself: its chip number, the seconds it is
                               awake, and the seconds from one waking to the next, for example
                               10000002:2/600; more than once for several devices
  --answer-delay <ms>          how long a device takes to answer (default 20)
  --help                       show this text
  --version                    show the version of the package
`;

const TEXT = { type: 'string' } as const;

/** Options of the simulator, as text, by flag. */
const TEXTS = {
  appid: TEXT,
  appkey: TEXT,
  'server-key': TEXT,
  'server-password': TEXT,
  dialect: TEXT,
} as const;

/** Options of the simulator that are numbers, by flag. */
const NUMBERS = {
  port: TEXT,
  interval: TEXT,
  'answer-delay': TEXT,
} as const;

const FLAGS = {
  ...TEXTS,
  ...NUMBERS,
  devices: TEXT,
  replace: { type: 'boolean' },
  sleep: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** `--answer-delay` of the command line is `answerDelay` of the options. */
const optionOf = (flag: string): string =>
  flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

function numberOf(option: string, text: string): number {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw new OptionError(option, `must be a number, but is "${text}"`);
}

/** The devices to start with: the first `count`; the devices named in `sleeping` sleep. */
function sleepersOf(sleeping: readonly string[], count: number): DeviceOptions[] {
  const devices = defaultDevices(numberIn('devices', count, 0, MAX_DEVICES, 'whole'));
  for (const text of sleeping) {
    const [, chipid, awake, every] = /^(\d+):([\d.]+)\/([\d.]+)$/.exec(text) ?? [];
    if (awake === undefined || every === undefined) {
      throw new OptionError('sleep', `must look like 10000002:2/600, but is "${text}"`);
    }
    const device = devices.find((each) => String(each.chipid) === chipid);
    if (!device) throw new OptionError('sleep', `names a device that is not there: ${chipid}`);
    device.sleep = { awake: numberOf('sleep', awake), every: numberOf('sleep', every) };
  }
  return devices;
}

interface CommandLine {
  help: boolean;
  version: boolean;
  options: SimulatorOptions;
}

/**
 * Reads the arguments of `device-cloud-simulator`. Options that are missing keep their defaults; the simulator checks
 * the others.
 * @throws OptionError, or the TypeError of parseArgs for an option that does not exist
 */
export function readCommandLine(args: string[]): CommandLine {
  const { values } = parseArgs({ args, options: FLAGS });
  const { help = false, version = false, replace = false, sleep, devices, ...others } = values;
  const count = devices === undefined ? DEFAULT_DEVICES : numberOf('devices', devices);
  const options: Record<string, unknown> = { port: DEFAULT_PORT, replace };
  options['devices'] = sleep ? sleepersOf(sleep, count) : count;
  for (const [flag, text] of Object.entries(others)) {
    const option = optionOf(flag);
    options[option] = flag in NUMBERS ? numberOf(option, text) : text;
  }
  return { help, version, options };
}

function packageVersion(): string {
  const manifest = createRequire(__filename)(`${NAME}/package.json`) as { version: string };
  return manifest.version;
}

/** Chip numbers that are written one by one. */
const MOST_LISTED = 20;

const listed = (chipids: readonly string[]): string => {
  const left = chipids.length - MOST_LISTED;
  if (left <= 0) return chipids.join(', ') || 'none';
  return `${chipids.slice(0, MOST_LISTED).join(', ')} and ${left} more, up to ${chipids.at(-1)}`;
};

const announcement = (simulator: Simulator): string => `The device cloud's simulator is running.

Put this into the config node "device-cloud-app" (service: cloud):
  Address          ${simulator.baseUrl}
  App id           ${simulator.appid}
  App key          ${simulator.appkey}
  Server key       ${simulator.serverKey}
  Server password  ${simulator.serverPassword}

Chip numbers of the devices: ${listed([...simulator.devices.keys()])}

Stop it with Ctrl-C.
`;

/** `answerDelay` of the options is `--answer-delay` of the command line. */
const flag = (option: string): string =>
  `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function explain(error: unknown): string {
  if (error instanceof OptionError) return `${flag(error.option)} ${error.problem}. See --help.`;
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? text;
}

async function main(): Promise<void> {
  const { help, version, options } = readCommandLine(process.argv.slice(2));
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  if (version) {
    process.stdout.write(`${packageVersion()}\n`);
    return;
  }
  const simulator = await startSimulator(options);
  // Without listeners and connections the process ends by itself, with exit code 0.
  const stop = (): void => void simulator.close();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  process.stdout.write(announcement(simulator));
}

// A test imports this file to read command lines.
if (require.main === module) {
  main().catch((error: unknown) => {
    process.stderr.write(`device-cloud-simulator: ${explain(error)}\n`);
    process.exitCode = 1;
  });
}
