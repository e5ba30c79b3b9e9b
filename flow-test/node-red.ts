import { spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { PIPE, Problem, type Answer, type Asked, type Report } from './protocol';

/** Milliseconds that Node-RED may take to start on a busy machine, and for each command after that. */
const START = 60_000;
const COMMAND = 15_000;

/** Lines of its log that are kept, and characters of one. */
const LINES = 200;
const WIDTH = 500;

/** Characters of one answer. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** A heap that a flow cannot fill so long that the machine suffers, in MB. */
const HEAP = 512;

/** Node-RED has ended or does not answer; it has to be started anew. */
export class NodeRedGone extends Problem {}

/** What is at a path below a folder, or the nearest folder above it; undefined if there is nothing. */
export function nearest(from: string, path: string): string | undefined {
  const found = join(from, path);
  if (existsSync(found)) return realpathSync(found);
  return dirname(from) === from ? undefined : nearest(dirname(from), path);
}

const PACKAGE = join('node_modules', 'node-red');

/** The Node-RED of a project; undefined if it has none. */
export const findNodeRed = (folder: string): string | undefined => nearest(folder, PACKAGE);

/** The Node-RED that is installed for the whole machine: that of its command. */
export function findGlobalNodeRed(): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const command = join(folder, 'node-red');
    // A link into the package; on Windows a script beside node_modules.
    const found = existsSync(command) ? findNodeRed(dirname(realpathSync(command))) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A Node-RED in a process and a folder of its own. */
export class NodeRed {
  /** Is called with what happens in Node-RED. */
  onReport: (report: Report) => void = () => undefined;
  readonly #userDir: string;
  readonly #child: ChildProcess;
  #partial = '';
  /** What waits for an answer, by its id. */
  readonly #asked = new Map<number, (failure: Error | undefined) => void>();
  /** The newest lines of its log. */
  readonly log: string[] = [];
  readonly #ended: Promise<void>;
  #end: string | undefined;
  #lastId = 0;
  /** Resolves when it runs. Rejects with a {@link NodeRedGone}. */
  readonly ready: Promise<unknown>;

  /**
   * @param nodeRed the folder of `node-red`
   * @param modules a `node_modules` whose nodes are loaded, besides those beside `node-red`
   */
  constructor(nodeRed: string, modules?: string) {
    const userDir = mkdtempSync(join(realpathSync(tmpdir()), 'device-cloud-test-'));
    this.#userDir = userDir;
    if (modules !== undefined) symlinkSync(modules, join(userDir, 'node_modules'), 'junction');
    const agent = join(__dirname, 'agent.js');
    const flags = ['--no-warnings', `--max-old-space-size=${HEAP}`];
    this.#child = spawn(process.execPath, [...flags, agent, nodeRed, userDir], {
      cwd: userDir,
      env: environment(userDir),
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      // With a process group of its own, what `exec` has started ends with it.
      detached: process.platform !== 'win32',
    });
    this.#ended = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#end ??= how;
        for (const answer of this.#asked.values()) answer(this.#gone());
        resolve();
      };
      this.#child.once('error', ({ message }) => end(message));
      this.#child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    });
    // It may have ended before it has read a command.
    this.#child.stdin?.on('error', () => undefined);
    const { stdout, stderr, stdio } = this.#child;
    for (const stream of [stdout, stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => this.#keep(text));
    const pipe = stdio[PIPE] as Readable | null | undefined;
    pipe?.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.ready = this.#answer(0, START, 'start');
    this.ready.catch(() => undefined);
  }

  /** Whether it still runs. */
  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** Has it do something. @throws NodeRedGone, or an Error that says why it could not be done */
  ask(asked: Asked): Promise<void> {
    const id = ++this.#lastId;
    const answer = this.#answer(id, COMMAND, asked.do);
    if (this.isRunning) this.#child.stdin?.write(`${JSON.stringify({ ...asked, id })}\n`);
    return answer;
  }

  /** Copies a file to where nodes can read and change it. @returns the path of the copy */
  copyIn(file: string, name: string): string {
    const copy = join(this.#userDir, name);
    copyFileSync(file, copy);
    return copy;
  }

  /** Ends it, whatever it is doing, and removes its folder. */
  async end(): Promise<void> {
    this.#kill();
    await this.#ended;
    this.#removeFolder();
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
    rmSync(this.#userDir, { recursive: true, force: true, maxRetries: 5 });
  }

  #gone(): NodeRedGone {
    return new NodeRedGone(`Node-RED has ended: ${this.#end}`);
  }

  /** The answer to a command, in time. */
  #answer(id: number, ms: number, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.isRunning) throw this.#gone();
      const late = `it did not answer (${what}) in ${ms / 1000} s: it is busy in a loop, or the machine is`;
      const timer = setTimeout(() => this.#kill(late), ms);
      this.#asked.set(id, (failure) => {
        clearTimeout(timer);
        this.#asked.delete(id);
        if (failure) reject(failure);
        else resolve();
      });
    });
  }

  #read(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    try {
      for (const line of lines) this.#take(JSON.parse(line) as Answer);
      if (this.#partial.length > MAX_ANSWER) throw new Error('too long');
    } catch {
      this.#kill('something else than its answers came over its pipe');
    }
  }

  #take(answer: Answer): void {
    if ('report' in answer) return this.onReport(answer.report);
    const { id, error } = answer;
    this.#asked.get(id)?.(error === undefined ? undefined : new Error(error));
  }

  #keep(text: string): void {
    const lines = text
      .slice(-LINES * WIDTH)
      .split('\n')
      .filter((line) => line.trim() !== '');
    this.log.push(...lines.map((line) => line.slice(0, WIDTH)));
    this.log.splice(0, this.log.length - LINES);
  }
}

/** The few variables that a process needs. All others may be secrets, or the addresses of real services. */
function environment(userDir: string): NodeJS.ProcessEnv {
  const kept = ['PATH', 'SystemRoot', 'TZ', 'LANG'];
  const env = Object.fromEntries(kept.map((name) => [name, process.env[name]]));
  const folders = ['HOME', 'USERPROFILE', 'TMPDIR', 'TEMP', 'TMP'];
  return { ...env, ...Object.fromEntries(folders.map((name) => [name, userDir])) };
}
