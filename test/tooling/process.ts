import type { ChildProcess } from 'node:child_process';
import { TIMEOUT, TimeoutError, within } from './until';

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process that ends with this one at the latest. */
export interface Child {
  readonly process: ChildProcess;
  /** Its process id as long as it lives. */
  pid: () => number | undefined;
  /** What it has printed after a position, by default everything. */
  log: (from?: number) => string;
  /** Resolves with the first match in what is printed after position `from` of the log. */
  logged: (pattern: RegExp, from?: number, timeout?: number) => Promise<RegExpExecArray>;
  /** Resolves with its exit code or signal, however it ends. */
  readonly ended: Promise<string>;
  /** Rejects as soon as it ends without having been asked to. */
  readonly crashed: Promise<never>;
  /** The promise's result, unless the process ends meanwhile or it takes too long. */
  guard: <T>(promise: Promise<T>, what: string, timeout?: number) => Promise<T>;
  /** Sends a signal and waits for the end; rejects if it had ended before, or does not end. */
  end: (signal?: NodeJS.Signals) => Promise<void>;
}

/** What the environment of this process must not do to one that talks to loopback alone. */
export const BARE: NodeJS.ProcessEnv = Object.fromEntries(
  ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'NODE_V8_COVERAGE'].map((name) => [
    name,
    undefined,
  ]),
);

const LINES = 40;

/** The end of a log without its finest lines, for an error to show. */
export function recent(log: string): string {
  const lines = log.split('\n').filter((line) => !line.includes('[trace]'));
  return lines.slice(-LINES).join('\n');
}

/** Keeps a process in sight. @param name for errors */
export function keep(name: string, child: ChildProcess): Child {
  let log = '';
  let state: 'running' | 'ending' | 'ended' = 'running';
  const listeners = new Set<() => void>();
  children.add(child);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const crashed = ended.then((how) => {
    const asked = state === 'ending';
    state = 'ended';
    children.delete(child);
    if (asked) return new Promise<never>(() => undefined);
    throw new Error(`${name} ended by itself (${how}). Its log:\n${recent(log)}`);
  });
  crashed.catch(() => undefined);

  const guard = <T>(promise: Promise<T>, what: string, timeout = TIMEOUT): Promise<T> =>
    within(Promise.race([promise, crashed]), what, timeout).catch((error: unknown) => {
      if (error instanceof TimeoutError) {
        error.message += ` The log of ${name}:\n${recent(log)}`;
      }
      throw error;
    });

  return {
    process: child,
    pid: () => (state === 'ended' ? undefined : child.pid),
    log: (from = 0) => log.slice(from),
    ended,
    crashed,
    guard,
    logged(pattern, from = 0, timeout = TIMEOUT) {
      let look = (): void => undefined;
      const found = new Promise<RegExpExecArray>((resolve) => {
        look = () => {
          const match = pattern.exec(log.slice(from));
          if (match) resolve(match);
        };
        listeners.add(look);
        look();
      });
      return guard(found, `its log shows ${pattern}`, timeout).finally(() =>
        listeners.delete(look),
      );
    },
    async end(signal = 'SIGTERM') {
      if (state === 'ended') await crashed;
      state = 'ending';
      // Windows has no signals: there a message asks for the end (end-with-parent.cjs).
      if (process.platform === 'win32' && signal !== 'SIGKILL' && child.connected)
        child.send('end');
      else child.kill(signal);
      await within(ended, `${name} has ended`).finally(() => child.kill('SIGKILL'));
    },
  };
}
