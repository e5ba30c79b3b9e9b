import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { temporary } from './packed';
import { repository } from '../../../tooling/repository';
import { BOUND } from '../../../tooling/until';

/** A run of `npm start`, without npm around it. */
export interface Demo {
  /** What it has printed so far, on both outputs. */
  output: () => string;
  /** Resolves when it has printed that all is up; rejects when it ends before. */
  up: Promise<void>;
  /** Resolves with its exit code when it has ended. */
  ended: Promise<number | null>;
  /** As Ctrl-C does. */
  interrupt: () => void;
  /** As `npm run dev` and service managers do. */
  terminate: () => void;
  /** Its user folder. */
  folder: string;
}

let count = 0;
const running = new Set<() => void>();
process.once('exit', () => running.forEach((kill) => kill()));

const START = join(repository, 'demo', 'start.mjs');

interface Options {
  /** What starts it for its part. */
  script?: string;
  args?: string[];
  env?: NodeJS.ProcessEnv;
  /** Default: a user folder of its own. */
  folder?: string;
}

export async function startDemo(port: number | string, options: Options = {}): Promise<Demo> {
  const { script = START, args = [], env = {} } = options;
  count += 1;
  const folder = options.folder ?? join(await temporary(), `demo-${count}`);
  const child = spawn(process.execPath, [script, ...args], {
    env: {
      ...process.env,
      ...env,
      NODE_V8_COVERAGE: undefined,
      PORT: String(port),
      DEVICE_CLOUD_DEMO_DIR: folder,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): boolean => child.kill('SIGKILL');
  running.add(kill);
  let output = '';
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      running.delete(kill);
      resolve(code);
    });
  });
  const up = new Promise<void>((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`Not up in time:\n${output}`)), 2 * BOUND);
    const read = (text: string): void => {
      output += text;
      if (output.includes('Ctrl-C')) resolve();
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    void ended.then((code) => {
      clearTimeout(limit);
      reject(new Error(`It ended with exit code ${String(code)}:\n${output}`));
    });
  });
  up.catch(() => undefined);
  return {
    output: () => output,
    up,
    ended,
    interrupt: () => void child.kill('SIGINT'),
    terminate: () => void child.kill('SIGTERM'),
    folder,
  };
}
