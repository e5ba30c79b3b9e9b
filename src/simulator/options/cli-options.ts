import { parseArgs } from 'node:util';
import { DIALECT_NAMES, HISTORY_ENCODINGS } from './dialect-defaults';
import { defaultDevices, type DeviceOptions } from './device-options';
import { numberIn, OptionError } from './option-readers';
import {
  DEFAULT_CREDENTIALS,
  DEFAULT_DEVICES,
  MAX_DEVICES,
  type SimulatorOptions,
} from './options';

export const DEFAULT_PORT = 8787;

export const HELP = `Usage: device-cloud-simulator [options]

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
  --history-encoding <which>   how "body" in history records is written: text, base64, trimmed or tagged
                               (default text, with public-2016 tagged)
  --unknown-app <status>       status for an unknown appid: 401 or 404 (default 401)
  --sleep <device:awake/every> lets a device sleep and wake by itself: its chip number, the seconds it is
                               awake, and the seconds from one waking to the next, for example
                               10000002:2/600; more than once for several devices
  --answer-delay <ms>          how long a device takes to answer (default 20)
  --help                       show this text
  --version                    show the version of the package
`;

const FLAGS = {
  port: { type: 'string' },
  devices: { type: 'string' },
  appid: { type: 'string' },
  appkey: { type: 'string' },
  'server-key': { type: 'string' },
  'server-password': { type: 'string' },
  interval: { type: 'string' },
  dialect: { type: 'string' },
  replace: { type: 'boolean' },
  'history-encoding': { type: 'string' },
  'unknown-app': { type: 'string' },
  'answer-delay': { type: 'string' },
  sleep: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

function numberOf(option: string, text: string): number {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw new OptionError(option, `must be a number, but is "${text}"`);
}

function choiceOf<T extends string>(option: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  const others = choices.slice(0, -1).join(', ');
  throw new OptionError(option, `must be ${others} or ${choices.at(-1)}, but is "${text}"`);
}

function unknownAppOf(text: string): 401 | 404 {
  if (text === '401') return 401;
  if (text === '404') return 404;
  throw new OptionError('unknownApp', `must be 401 or 404, but is "${text}"`);
}

/** The devices to start with: the first `count`, of which those named in `sleeping` sleep. */
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

/** What the command line asks for. */
export interface CommandLine {
  help: boolean;
  version: boolean;
  options: SimulatorOptions;
}

/**
 * Reads the arguments of `device-cloud-simulator`. Options that are missing keep their defaults.
 * @throws OptionError, or the TypeError of parseArgs for an option that does not exist
 */
export function readCommandLine(args: string[]): CommandLine {
  const { values } = parseArgs({ args, options: FLAGS });
  const options: SimulatorOptions = {
    port: values.port === undefined ? DEFAULT_PORT : numberOf('port', values.port),
  };
  const devices =
    values.devices === undefined ? DEFAULT_DEVICES : numberOf('devices', values.devices);
  options.devices = values.sleep ? sleepersOf(values.sleep, devices) : devices;
  if (values.appid !== undefined) options.appid = values.appid;
  if (values.appkey !== undefined) options.appkey = values.appkey;
  if (values['server-key'] !== undefined) options.serverKey = values['server-key'];
  if (values['server-password'] !== undefined) options.serverPassword = values['server-password'];
  if (values.interval !== undefined) options.interval = numberOf('interval', values.interval);
  if (values.dialect !== undefined) {
    options.dialect = choiceOf('dialect', values.dialect, DIALECT_NAMES);
  }
  if (values.replace) options.replace = true;
  if (values['history-encoding'] !== undefined) {
    options.historyEncoding = choiceOf(
      'historyEncoding',
      values['history-encoding'],
      HISTORY_ENCODINGS,
    );
  }
  if (values['unknown-app'] !== undefined) {
    options.unknownApp = unknownAppOf(values['unknown-app']);
  }
  if (values['answer-delay'] !== undefined) {
    options.answerDelay = numberOf('answerDelay', values['answer-delay']);
  }
  return { help: values.help ?? false, version: values.version ?? false, options };
}
