import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { keep, type Child } from './process';
import { repository } from './repository';
import { temporaryFolder } from './temporary-folder';
import { TIMEOUT } from './until';

/** A run of `npm start`, without npm around it. */
export interface Demo extends Child {
  /** Its user folder. */
  folder: string;
  /** Resolves when it has printed that all is up; rejects when it ends before. */
  up: () => Promise<void>;
  /** As Ctrl-C does. */
  interrupt: () => void;
  /** As `npm run dev` and service managers do. */
  terminate: () => void;
}

interface DemoOptions {
  /** What starts it for its part. */
  script?: string;
  args?: readonly string[];
  /** Variables on top of those of this process. */
  env?: NodeJS.ProcessEnv;
  /** Its user folder; default: one that is removed with this process. */
  folder?: string;
}

const START = join(repository, 'demo', 'start.mjs');

/** @param port for the variable PORT, as a person may write it */
export function startDemo(port: number | string, options: DemoOptions = {}): Demo {
  const { script = START, args = [], env, folder = temporaryFolder('demo') } = options;
  const own = { NODE_V8_COVERAGE: undefined, PORT: String(port), DEVICE_CLOUD_DEMO_DIR: folder };
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...env, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kept = keep('The demo', child);
  return {
    ...kept,
    folder,
    up: async () => void (await kept.logged(/Ctrl-C/, 0, 3 * TIMEOUT)),
    interrupt: () => void child.kill('SIGINT'),
    terminate: () => void child.kill('SIGTERM'),
  };
}
