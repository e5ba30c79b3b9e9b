import { spawn, type ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import type { Allowed } from './allowed';
import { modulesSeen, type Contributed } from './contributed';
import type { Answer, Command, Report, Start, Traffic } from './protocol';

/** Milliseconds that Node-RED may take to start on a busy machine, and for each command after that. */
const START = 60_000;
const COMMAND = 15_000;

/** Lines of its log that are kept, and characters of one. */
const LINES = 200;
const WIDTH = 500;

/** A heap that a flow cannot fill so long that the machine suffers, in MB. */
const HEAP = 512;

/** Node-RED has ended or does not answer; it has to be started anew. */
export class NodeRedGone extends Error {}

/** Where things are on this machine. */
export interface Places {
  /** The folder of `node-red`. */
  readonly nodeRed: string;
  /** The folder of this package. */
  readonly ownPackage: string;
  /** The name of this package. */
  readonly ownName: string;
  /** Packages whose nodes are allowed. */
  readonly contributed?: readonly Contributed[];
}

/** The nearest `node-red` in a `node_modules` from a folder upwards; undefined if there is none. */
export function findNodeRed(from: string): string | undefined {
  const found = join(from, 'node_modules', 'node-red');
  if (existsSync(join(found, 'package.json'))) return realpathSync(found);
  return dirname(from) === from ? undefined : findNodeRed(dirname(from));
}

/** The `node_modules` from which a package loads what it needs: the outermost that it is in, or those above its folder. */
function modulesAround(path: string): string[] {
  const real = realpathSync(path);
  const parts = real.split(sep);
  const first = parts.indexOf('node_modules');
  if (first !== -1) return [parts.slice(0, first + 1).join(sep)];
  return modulesSeen(real)
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => [folder, realpathSync(folder)]);
}

/** Names of permission flags differ by version; all supported versions have them. */
function permissions(read: readonly string[], write: string, allowed: Allowed): string[] {
  const has = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);
  return [
    has('--permission') ? '--permission' : '--experimental-permission',
    ...[...read, write].map((folder) => `--allow-fs-read=${folder}${sep}`),
    `--allow-fs-write=${write}${sep}`,
    // From Node.js 25 on the network is closed by default; walls.ts leaves one port.
    ...(has('--allow-net') ? ['--allow-net'] : []),
    ...(allowed.processes ? ['--allow-child-process'] : []),
    ...(allowed.packages ? ['--allow-addons', '--allow-worker'] : []),
  ];
}

interface Asked {
  resolve(answer: { traffic: Traffic }): void;
  reject(error: Error): void;
}

/** A Node-RED in a process and a folder of its own. */
export class NodeRed {
  /** Its user directory: the only place that it can write to. */
  readonly userDir: string;
  /** Is called with what happens in a test. */
  onReport: (test: number, report: Report) => void = () => undefined;
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, Asked>();
  readonly #log: string[] = [];
  readonly #ended: Promise<void>;
  #end: string | undefined;
  #isStuck = false;
  #lastId = 0;
  #isReady: () => void = () => undefined;

  /** @param port the only one on loopback that nodes may connect to */
  constructor(places: Places, allowed: Allowed, port: number) {
    this.userDir = makeUserDir(places);
    const start: Start = {
      nodeRed: places.nodeRed,
      userDir: this.userDir,
      excluded: allowed.excluded,
      port: allowed.network ? 0 : port,
    };
    const { nodeRed, ownPackage, contributed = [] } = places;
    const packages = [ownPackage, ...contributed.map(({ folder }) => folder)];
    const read = [...packages, ...[nodeRed, ...packages].flatMap(modulesAround)];
    const flags = permissions([...new Set(read)], this.userDir, allowed);
    const own = (name: string): string => join(__dirname, `${name}.js`);
    this.#child = spawn(
      process.execPath,
      [
        ...flags,
        '--no-warnings',
        `--max-old-space-size=${HEAP}`,
        '--require',
        own('walls'),
        own('agent'),
        JSON.stringify(start),
      ],
      {
        cwd: this.userDir,
        env: environment(this.userDir),
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        // With a process group of its own, what `exec` has started ends with it.
        detached: process.platform !== 'win32',
      },
    );
    this.#ended = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#end ??= how;
        const gone = new NodeRedGone(`Node-RED ended by itself (${this.#end})`);
        for (const { reject } of this.#asked.values()) reject(gone);
        this.#asked.clear();
        resolve();
      };
      this.#child.once('error', ({ message }) => end(message));
      this.#child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => this.#keep(text));
    this.#child.on('message', (answer: Answer) => this.#take(answer));
  }

  /** The newest lines of its log. */
  get log(): readonly string[] {
    return this.#log;
  }

  /** Leaves the log of earlier tests behind. */
  forgetLog(): void {
    this.#log.length = 0;
  }

  /** Whether it runs, and has always answered in time. */
  get isUsable(): boolean {
    return this.isRunning && !this.#isStuck;
  }

  /** Whether it still runs. */
  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** Resolves when it runs. @throws NodeRedGone */
  ready(): Promise<void> {
    const started = new Promise<{ traffic: Traffic }>((resolve, reject) => {
      this.#isReady = () => resolve({ traffic: {} });
      this.#asked.set(0, { resolve, reject });
    });
    return this.#limit(started, START, 'Node-RED did not start').then(() => undefined);
  }

  /** Has it do something. @throws NodeRedGone, or an Error that says why it could not be done */
  ask(
    command:
      | Omit<Command & { do: 'deploy' }, 'id'>
      | Omit<Command & { do: 'inject' }, 'id'>
      | { do: 'flush' },
  ): Promise<{ traffic: Traffic }> {
    const id = ++this.#lastId;
    const answered = new Promise<{ traffic: Traffic }>((resolve, reject) => {
      if (!this.isRunning) reject(new NodeRedGone(`Node-RED ended by itself (${this.#end})`));
      else this.#asked.set(id, { resolve, reject });
    });
    if (this.isRunning) this.#child.send({ ...command, id }, () => undefined);
    return this.#limit(answered, COMMAND, `Node-RED did not answer (${command.do})`);
  }

  /** Copies a file to where nodes can read and change it. @returns the path of the copy */
  copyIn(file: string, name: string): string {
    const copy = join(this.userDir, 'copies', name);
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(file, copy);
    return copy;
  }

  /** Ends it, whatever it is doing, and removes its folder. */
  async end(): Promise<void> {
    this.#kill();
    await this.#ended;
    this.#removeFolder();
  }

  /** Ends it because of an error. @returns whether it ran */
  abandon({ message }: Error): boolean {
    const { isRunning } = this;
    this.#kill(`what it says cannot be read: ${message}`);
    return isRunning;
  }

  /** Does the same when this process ends and nothing can be awaited any more. */
  endAtExit(): void {
    this.#kill();
    this.#removeFolder();
  }

  #kill(why = 'asked to'): void {
    const { pid } = this.#child;
    if (!this.isRunning || pid === undefined) return;
    this.#end = why;
    try {
      if (process.platform === 'win32') this.#child.kill('SIGKILL');
      else process.kill(-pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }

  #removeFolder(): void {
    rmSync(this.userDir, { recursive: true, force: true, maxRetries: 5 });
  }

  #limit<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const problem = `${what} in ${ms / 1000} s: it is busy in a loop, or the machine is`;
      timer = setTimeout(() => {
        this.#isStuck = true;
        reject(new NodeRedGone(problem));
      }, ms);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  }

  #take(answer: Answer): void {
    if ('started' in answer) {
      this.#asked.delete(0);
      this.#isReady();
    } else if ('report' in answer) this.onReport(answer.test, answer.report);
    else {
      const asked = this.#asked.get(answer.id);
      this.#asked.delete(answer.id);
      if (answer.error === undefined) asked?.resolve({ traffic: answer.traffic ?? {} });
      else asked?.reject(new Error(answer.error));
    }
  }

  #keep(text: string): void {
    const lines = text
      .slice(-LINES * WIDTH)
      .split('\n')
      .filter((line) => line.trim() !== '');
    this.#log.push(...lines.map((line) => line.slice(0, WIDTH)));
    this.#log.splice(0, this.#log.length - LINES);
  }
}

/** A user directory with this package in it, those that are allowed, and no more than that. */
function makeUserDir({ ownPackage, ownName, contributed = [] }: Places): string {
  const userDir = mkdtempSync(join(realpathSync(tmpdir()), 'device-cloud-test-'));
  const packages = [{ name: ownName, folder: ownPackage }, ...contributed];
  for (const { name, folder } of packages) {
    const installed = join(userDir, 'node_modules', name);
    mkdirSync(dirname(installed), { recursive: true });
    symlinkSync(folder, installed, 'junction');
  }
  const dependencies = Object.fromEntries(packages.map(({ name }) => [name, '*']));
  writeFileSync(
    join(userDir, 'package.json'),
    JSON.stringify({ name: 'test', private: true, dependencies }),
  );
  return userDir;
}

/** The few variables that a process needs. All others may be secrets. */
function environment(userDir: string): NodeJS.ProcessEnv {
  const kept = ['PATH', 'SystemRoot', 'TZ', 'LANG'];
  const env = Object.fromEntries(kept.map((name) => [name, process.env[name]]));
  return {
    ...env,
    HOME: userDir,
    USERPROFILE: userDir,
    TMPDIR: userDir,
    TEMP: userDir,
    TMP: userDir,
  };
}
