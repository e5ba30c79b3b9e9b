import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import writeFileAtomic from 'write-file-atomic';
import { isObject } from '../util/object';
import { Journal, setAside } from './journal';
import { codeOf, FolderLock, type LockOwner } from './lock';

/** The port: one value that survives a restart. */
export interface KeptValue {
  /** @returns undefined if nothing is kept. @throws what the store fails with */
  read(): Promise<unknown>;
  /** Replaces the value as a whole. @throws what the store fails with */
  write(value: object): Promise<void>;
  /** Forgets the value. */
  remove(): Promise<void>;
  /** Why the value does not survive a restart, in a sentence; undefined if it does, as far as the store knows. */
  readonly problem?: string | undefined;
}

/** The first property of each file, so that a foreign file is recognised. */
const FORMAT = 'device-cloud-state';
const VERSION = 1;

/** Bytes of the largest file that is read: far more than 10,000 devices take. */
const MAX_FILE = 64 * 2 ** 20;

/** Milliseconds that a file is kept which nobody has read or written: its node is gone, or was replaced by a deploy. */
const UNUSED = 60 * 24 * 60 * 60_000;

export interface FolderOptions {
  /** What is kept belongs to this application: values of another one are not read. */
  application: string;
  /** Is called with a sentence for the log. */
  log: (line: string) => void;
  /** Who holds the folder; default: this process. */
  owner?: LockOwner | undefined;
  /** Milliseconds; see {@link FolderLock}. */
  heartbeat?: number | undefined;
  /** Ends the wait for a folder that another process may use. */
  signal?: AbortSignal | undefined;
}

/** How often a file is read that cannot be read for what may pass, and the milliseconds between. */
const TRIES = 3;
const PAUSE = 1000;
const PASSING = new Set(['EAGAIN', 'EBUSY', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETIMEDOUT']);

/** What a process that was killed while it wrote has left behind. */
const UNFINISHED = /^lock\.|\.jsonl?\.\d+$/;

/** What the system says, without the name of its call. */
const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split(',', 1)[0] ?? '';

/** What to do about a file or a folder that cannot be used, as far as that is known. */
const adviceOf = (error: unknown): string | undefined =>
  ['EACCES', 'EPERM'].includes(codeOf(error))
    ? 'Give it to the user that Node-RED runs as, and restart Node-RED'
    : undefined;

/** Tries again what fails for a reason that may pass. */
async function patiently<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (tries === TRIES || !PASSING.has(codeOf(error))) throw error;
    }
    await sleep(PAUSE);
  }
}

/** The file that stands where a folder should be. */
async function fileInTheWay(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found) return found.isDirectory() ? undefined : path;
  return path === dirname(path) ? undefined : fileInTheWay(dirname(path));
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** The id of a node as the name of a file: ids are free text in a flow that was edited by hand. */
export const fileNameOf = (id: string): string =>
  /^[a-z\d][a-z\d_-]{0,63}$/.test(id) ? id : `_${hash(id)}`;

/** Why what is in a file does not survive a restart. */
const unusable = (what: string, path: string, error: unknown): string =>
  `Not kept over a restart: ${what}. ${path} cannot be used (${reasonOf(error)}), and is left as it is. ` +
  `${adviceOf(error) ?? 'Repair it or move it away, and restart Node-RED'}.`;

/**
 * What one application keeps over a restart, in a folder of its own, which one process at a time uses. Values are whole
 * files, written atomically; {@link Journal} is for what grows by single entries. If the folder cannot be used,
 * everything works without it, and `problem` says why.
 */
export class StateFolder {
  readonly #path: string;
  readonly #options: FolderOptions;
  readonly #journals = new Set<Journal>();
  readonly #writes = new Set<Promise<void>>();
  /** The names of the files that this process uses. */
  readonly #used = new Set(['lock']);
  /** The application, unreadable: its name may be an address. */
  readonly #of: string;
  #lock: FolderLock | undefined;
  #problem: string | undefined;

  private constructor(path: string, options: FolderOptions) {
    this.#path = path;
    this.#options = options;
    this.#of = hash(options.application);
  }

  /** Opens a folder, and makes it if it does not exist. It never rejects. */
  static async open(path: string, options: FolderOptions): Promise<StateFolder> {
    const folder = new StateFolder(path, options);
    await folder.#open();
    return folder;
  }

  /** Why nothing survives a restart, in a sentence; undefined if it does. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * A value by its name: letters, digits, `-` and `_`. If its file cannot be read, it stays as it is: reading returns
   * undefined and nothing is written.
   * @param what it is, for people
   */
  value(name: string, what = name): KeptValue {
    const path = this.#use(`${name}.json`);
    const ofFolder = (): string | undefined => this.#problem;
    let problem: string | undefined;
    return {
      get problem() {
        return problem ?? ofFolder();
      },
      read: async () => {
        if (problem) return undefined;
        try {
          return await patiently(() => this.#read(path));
        } catch (error) {
          problem = unusable(what, path, error);
          return undefined;
        }
      },
      write: async (value) => {
        if (problem) return;
        const write = this.#write(path, value).finally(() => this.#writes.delete(write));
        this.#writes.add(write);
        await write;
      },
      remove: async () => {
        if (this.#lock) await rm(path, { force: true });
      },
    };
  }

  /** The entries of a journal by its name; undefined if it cannot be used. @param what it is, for people */
  async journal(name: string, what = name): Promise<Journal | undefined> {
    const lock = this.#lock;
    if (!lock) return undefined;
    const { log } = this.#options;
    const path = this.#use(`${name}.jsonl`);
    try {
      const options = { log, isMine: () => lock.isHeld() };
      const journal = await patiently(() => Journal.open(path, options));
      this.#journals.add(journal);
      return journal;
    } catch (error) {
      log(unusable(what, path, error));
      return undefined;
    }
  }

  /** Gives the folder to the next process. What was not written yet is the caller's to write before. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#writes);
    await Promise.all([...this.#journals].map((journal) => journal.close()));
    if (await this.#lock?.isHeld()) await this.#tidy().catch(() => undefined);
    await this.#lock?.release();
    this.#lock = undefined;
  }

  async #open(): Promise<void> {
    const { owner, heartbeat, signal, log } = this.#options;
    try {
      await mkdir(this.#path, { recursive: true, mode: 0o700 });
      const onWait = (holder: LockOwner | undefined, ms: number): void => {
        const whom = holder ? `Process ${holder.pid} on ${holder.host}` : 'Another process';
        log(
          `${whom} has not given back ${this.#path}: it was killed, or still runs. This Node-RED waits ${ms / 1000} s for a ` +
            'sign of life. Until then, nodes that need what is kept over a restart do not begin.',
        );
      };
      const options = { owner, heartbeat, signal, onWait };
      this.#lock = await FolderLock.acquire(join(this.#path, 'lock'), options);
      if (this.#lock) await this.#removeUnfinished();
      else if (signal?.aborted) this.#problem = 'It was closed before it could be used.';
      else this.#fail('another process uses it. Give each Node-RED a user directory');
    } catch (error) {
      const file = await fileInTheWay(this.#path);
      const advice = adviceOf(error);
      if (file) this.#fail(`${file} is a file. Move it away, and restart Node-RED`);
      else this.#fail(`${reasonOf(error)}${advice ? `. ${advice}` : ''}`);
    }
  }

  /** No other process writes here meanwhile. */
  async #removeUnfinished(): Promise<void> {
    const names = (await readdir(this.#path)).filter((name) => UNFINISHED.test(name));
    await Promise.all(names.map((name) => rm(join(this.#path, name), { force: true })));
  }

  #use(file: string): string {
    this.#used.add(file);
    return join(this.#path, file);
  }

  /**
   * Removes the files of nodes that are gone. Not at the start: which files are in use is only known once the nodes run,
   * and one whose value has not changed for months is as old.
   */
  async #tidy(): Promise<void> {
    const entries = await readdir(this.#path, { withFileTypes: true });
    for (const { name } of entries.filter(
      (entry) => entry.isFile() && !this.#used.has(entry.name),
    )) {
      const path = join(this.#path, name);
      if (Date.now() - (await stat(path)).mtimeMs > UNUSED) await rm(path, { force: true });
    }
  }

  #fail(reason: string): void {
    this.#problem = `Nothing is kept over a restart in ${this.#path}: ${reason}.`;
    this.#options.log(this.#problem);
  }

  async #read(path: string): Promise<unknown> {
    // What an older process left in a folder that cannot be written would be given back again and again.
    if (!this.#lock) return undefined;
    try {
      const { size } = await stat(path);
      if (size <= MAX_FILE) {
        const file: unknown = JSON.parse(await readFile(path, 'utf8'));
        if (isObject(file) && file['format'] === FORMAT && file['version'] === VERSION) {
          // So that it counts as used, though it may not change for long.
          await utimes(path, new Date(), new Date()).catch(() => undefined);
          return file['of'] === this.#of ? file['value'] : undefined;
        }
      }
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      if (!(error instanceof SyntaxError) && codeOf(error) !== 'EISDIR') throw error;
    }
    await setAside(path, this.#options.log);
    return undefined;
  }

  async #write(path: string, value: object): Promise<void> {
    const lock = this.#lock;
    if (!lock) return;
    if (!(await lock.isHeld())) {
      this.#lock = undefined;
      this.#fail('another process has taken it over, or it was removed');
      return;
    }
    const file = { format: FORMAT, version: VERSION, of: this.#of, value };
    await writeFileAtomic(path, JSON.stringify(file), { mode: 0o600 });
  }
}
