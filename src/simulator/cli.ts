#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { DEFAULT_CREDENTIALS, OptionError, type SimulatorOptions } from './options';
import { startSimulator, type Simulator } from './simulator';

const DEFAULT_PORT = 8787;

const HELP = `Usage: device-cloud-simulator [options]

Runs the whole device cloud service on this machine, reachable from this machine only.

  --port <number>              port, 0 for any free one (default ${DEFAULT_PORT})
  --devices <number>           number of devices, with chip numbers from 10000001 (default 3)
  --appid <digits>             default ${DEFAULT_CREDENTIALS.appid}
  --appkey <text>              default ${DEFAULT_CREDENTIALS.appkey}, with public-2016 one of 32 digits
  --interval <seconds>         time between two uploads of a device, 0 to turn them off (default 5)
  --dialect <which>            document answers as the service's document says; public-2016 answers as the
                               public server of 2016 did (default document)
  --help                       show this text
`;

const TEXT = { type: 'string' } as const;

const FLAGS = {
  port: TEXT,
  devices: TEXT,
  appid: TEXT,
  appkey: TEXT,
  interval: TEXT,
  dialect: TEXT,
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Reads the arguments of `device-cloud-simulator`. The simulator checks the options.
 * @throws TypeError of parseArgs for an option that does not exist
 */
function readCommandLine(args: string[]) {
  const { help = false, ...given } = parseArgs({ args, options: FLAGS }).values;
  const options: object = { port: DEFAULT_PORT, ...given };
  return { help, options: options as SimulatorOptions };
}

const announcement = (simulator: Simulator): string => `The device cloud's simulator is running.

Put this into an application, with the service "device cloud":
  Address          ${simulator.baseUrl}
  App ID           ${simulator.appid}
  App key          ${simulator.appkey}
  Server key       ${simulator.serverKey}
  Server password  ${simulator.serverPassword}

Chip numbers of the devices: ${[...simulator.devices.keys()].join(', ') || 'none'}

Stop it with Ctrl-C.
`;

function explain(error: unknown): string {
  if (error instanceof OptionError) return `--${error.option} ${error.problem}. See --help.`;
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? text;
}

async function main(): Promise<void> {
  const { help, options } = readCommandLine(process.argv.slice(2));
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  const simulator = await startSimulator(options);
  // Without listeners and connections the process ends by itself, with exit code 0.
  const stop = (): void => void simulator.close();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  process.stdout.write(announcement(simulator));
}

main().catch((error: unknown) => {
  process.stderr.write(`device-cloud-simulator: ${explain(error)}\n`);
  process.exitCode = 1;
});
