import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process that ends with this one at the latest. */
export interface Child {
  process: ChildProcess;
  /** Everything it has printed. */
  log(): string;
  /** Rejects as soon as it ends, unless it was told to. */
  readonly crashed: Promise<never>;
  /** Sends a signal, and waits until it has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

const PATIENCE = 20_000;

/** Fails if a promise takes too long. */
export function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`It took over ${ms / 1000} s until ${what}.`));
    const timer = setTimeout(late, ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Keeps a process in sight. @param name for errors */
export function keep(name: string, process: ChildProcess): Child {
  let log = '';
  let ending = false;
  children.add(process);
  for (const stream of [process.stdout, process.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (log += text));
  }
  const ended = new Promise<string>((resolve) => {
    process.once('error', (error) => resolve(error.message));
    process.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const crashed = ended.then((how) => {
    children.delete(process);
    if (ending) return new Promise<never>(() => undefined);
    throw new Error(`${name} ended by itself (${how}):\n${log.split('\n').slice(-30).join('\n')}`);
  });
  crashed.catch(() => undefined);
  return {
    process,
    log: () => log,
    crashed,
    async end(signal) {
      ending = true;
      process.kill(signal);
      await within(PATIENCE, ended, `${name} has ended`).finally(() => process.kill('SIGKILL'));
    },
  };
}
