import { parseArgs } from 'node:util';

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
  /** How the service writes bodies in its history; Node-RED is not configured for it. */
  history: 'text' | 'base64';
  /** Whether Node-RED is killed and started again, and recovers across that. */
  kill: boolean;
}

export function positive(name: string, text: string, max: number): number {
  const value = Number(text);
  if (value > 0 && value <= max) return value;
  throw new Error(`--${name} must be a number above 0, at most ${max}, but is ${text}.`);
}

function historyOf(text: string): SoakOptions['history'] {
  if (text === 'text' || text === 'base64') return text;
  throw new Error(`--history must be text or base64, but is ${text}.`);
}

/**
 * Reads the command line: `--minutes 2 --devices 50 --rate 300 --seed 1 --cut 20 --history text --kill`.
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
      history: { type: 'string', default: 'text' },
      kill: { type: 'boolean', default: false },
    },
  });
  return {
    minutes: positive('minutes', values.minutes, 24 * 60),
    devices: Math.ceil(positive('devices', values.devices, 5000)),
    rate: positive('rate', values.rate, 5000),
    seed: values.seed,
    cut: positive('cut', values.cut, 24 * 3600),
    history: historyOf(values.history),
    kill: values.kill,
  };
}
