import { parseArgs } from 'node:util';

/** How a soak is run. */
export interface SoakOptions {
  minutes: number;
  devices: number;
  /** Uploads a second, of all devices together. */
  rate: number;
  /** Repeats a run's uploads and faults. */
  seed: string;
  /** Whether the service answers as the public server did, whose history does not keep what was uploaded. */
  isPublic: boolean;
  /** Whether Node-RED is killed and started again, and recovers across that. */
  kill: boolean;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value < Infinity) return value;
  throw new Error(`--${name} must be a number above 0, but is ${text}.`);
}

/**
 * Reads the command line: `--minutes 2 --devices 50 --rate 300 --seed 1 --dialect public-2016 --kill`.
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
      dialect: { type: 'string', default: 'document' },
      kill: { type: 'boolean', default: false },
    },
  });
  return {
    minutes: positive('minutes', values.minutes),
    devices: Math.ceil(positive('devices', values.devices)),
    rate: positive('rate', values.rate),
    seed: values.seed,
    isPublic: values.dialect === 'public-2016',
    kill: values.kill,
  };
}
