import { parseArgs } from 'node:util';
import type { DialectName, HistoryEncoding } from '../../src/simulator';

/** How a soak is run. */
export interface SoakOptions {
  minutes: number;
  devices: number;
  /** Uploads a second, of all devices together. */
  rate: number;
  /** Repeats a run's uploads and faults. */
  seed: string;
  /** Seconds after which a middlebox cuts each connection. */
  cut: number;
  /** How the service answers. */
  dialect: DialectName;
  /** Whether a newer channel of a device closes the older one. */
  replace: boolean;
  /** How the service writes bodies in its history; Node-RED is not configured for it. */
  history: HistoryEncoding;
  /** Whether Node-RED is killed and started again, and recovers across that. */
  kill: boolean;
}

export function positive(name: string, text: string, max: number): number {
  const value = Number(text);
  if (value > 0 && value <= max) return value;
  throw new Error(`--${name} must be a number above 0, at most ${max}, but is ${text}.`);
}

const DIALECTS: readonly DialectName[] = ['document', 'public-2016'];
const HISTORIES: readonly HistoryEncoding[] = ['text', 'base64', 'trimmed', 'tagged'];

function oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new Error(`--${name} must be one of ${choices.join(', ')}, but is ${text}.`);
}

/**
 * Reads the command line: `--minutes 2 --devices 50 --rate 300 --seed 1 --cut 20 --history text --kill`,
 * and `--dialect public-2016 --replace`, whose history is tagged unless another one is chosen.
 * @throws Error that says what is wrong
 */
export function readOptions(args: string[]): SoakOptions {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '2' },
      devices: { type: 'string', default: '50' },
      rate: { type: 'string', default: '300' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      cut: { type: 'string', default: '20' },
      dialect: { type: 'string', default: 'document' },
      replace: { type: 'boolean', default: false },
      history: { type: 'string' },
      kill: { type: 'boolean', default: false },
    },
  });
  const dialect = oneOf('dialect', values.dialect, DIALECTS);
  const usual = dialect === 'document' ? 'text' : 'tagged';
  return {
    minutes: positive('minutes', values.minutes, 24 * 60),
    devices: Math.ceil(positive('devices', values.devices, 5000)),
    rate: positive('rate', values.rate, 5000),
    seed: values.seed,
    cut: positive('cut', values.cut, 24 * 3600),
    dialect,
    replace: values.replace,
    history: oneOf('history', values.history ?? usual, HISTORIES),
    kill: values.kill,
  };
}
