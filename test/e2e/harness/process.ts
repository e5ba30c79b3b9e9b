import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '../../support/repository';

/** How long a Node-RED may take to start, to deploy or to stop before it counts as stuck. */
export const PATIENCE = 45_000;

/** A Node-RED in a process of its own: its log, and whether it lives. */
export interface NodeRedProcess {
  /** Its process id as long as it lives. */
  pid: () => number | undefined;
  /** Everything it has printed so far. */
  log: () => string;
  /** Resolves with the first match in what is printed after position `from` of the log. */
  logged(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
  /** The promise's result, unless Node-RED dies meanwhile or it takes too long. */
  guard<T>(promise: Promise<T>, what: string): Promise<T>;
  /** Ends it as a system would; rejects when it had died before or does not go by itself. */
  stop: () => Promise<void>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** What the environment of the tests must not do to a Node-RED that talks to loopback alone. */
const BARE = Object.fromEntries(
  ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'NODE_V8_COVERAGE'].map((name) => [
    name,
    undefined,
  ]),
);

/** Starts Node-RED with a settings file. E2E_NODE and E2E_NODE_RED choose other versions. */
export function spawnNodeRed(
  settingsFile: string,
  userDir: string,
  env: NodeJS.ProcessEnv,
): NodeRedProcess {
  const node = process.env['E2E_NODE'] ?? process.execPath;
  const nodeRed = process.env['E2E_NODE_RED'] ?? join(repository, 'node_modules', 'node-red');
  const preload = ['--require', join(repository, 'scripts', 'end-with-parent.cjs')];
  const red = [join(nodeRed, 'red.js'), '-u', userDir, '-s', settingsFile, '-p', '0'];
  const child = spawn(node, [...preload, ...red], {
    cwd: userDir,
    env: { ...process.env, ...BARE, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  running.add(child);
  return watch(child);
}

function watch(child: ChildProcess): NodeRedProcess {
  let log = '';
  let stopping = false;
  let ended = false;
  const listeners = new Set<() => void>();
  const append = (text: string): void => {
    log += text;
    for (const listener of listeners) listener();
  };
  child.stdout?.setEncoding('utf8').on('data', append);
  child.stderr?.setEncoding('utf8').on('data', append);
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${String(code)}`));
  }).then((how) => {
    ended = true;
    running.delete(child);
    return how;
  });
  const crashed = exited.then((how) => {
    if (stopping) return new Promise<never>(() => undefined);
    throw new Error(`Node-RED ended by itself (${how}). Its log:\n${recent(log)}`);
  });
  crashed.catch(() => undefined);

  const guard = <T>(promise: Promise<T>, what: string): Promise<T> =>
    within(Promise.race([promise, crashed]), what, () => log);

  const logged = (pattern: RegExp, from = 0): Promise<RegExpExecArray> => {
    const found = new Promise<RegExpExecArray>((resolve) => {
      const look = (): void => {
        const match = pattern.exec(log.slice(from));
        if (!match) return;
        listeners.delete(look);
        resolve(match);
      };
      listeners.add(look);
      look();
    });
    return guard(found, `its log shows ${String(pattern)}`);
  };

  const stop = async (): Promise<void> => {
    if (ended) await crashed;
    stopping = true;
    if (process.platform === 'win32') child.send('end');
    else child.kill('SIGTERM');
    await within(exited, 'it has stopped', () => log).finally(() => child.kill('SIGKILL'));
  };

  const pid = (): number | undefined => (ended ? undefined : child.pid);

  return { pid, log: () => log, logged, guard, stop };
}

/** The end of a log without its finest lines, for an error to show. */
export function recent(log: string): string {
  const lines = log.split('\n').filter((line) => !line.includes('[trace]'));
  return lines.slice(-40).join('\n');
}

function within<T>(promise: Promise<T>, what: string, log: () => string): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const limit = setTimeout(() => {
      reject(
        new Error(
          `Node-RED took over ${PATIENCE / 1000} s until ${what}. Its log:\n${recent(log())}`,
        ),
      );
    }, PATIENCE);
    promise.then(resolve, reject).finally(() => clearTimeout(limit));
  });
}
