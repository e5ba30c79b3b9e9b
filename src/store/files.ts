import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { isObject } from '../util/object';
import { Semaphore } from '../util/semaphore';
import { KINDS, kindOf, type Entries, type StorePort } from './store';

/** The first properties of each file, so that a foreign one is recognised. */
const FORMAT = { format: 'device-cloud', version: 1 };

/** Bytes of the largest file: what is larger is neither written nor read. */
const MAX_FILE = 50 * 2 ** 20;

/** Milliseconds without a write of another process, after which this one writes again. */
const QUIET = 60_000;

/** Files of commands that are read or written side by side. */
const AT_ONCE = 16;

/** What passes: no handle, no memory, a disk that stutters. */
const PASSING = new Set('EAGAIN EBUSY EIO EMFILE ENFILE ENOMEM ETIMEDOUT'.split(' '));

/** The folders of commands, as in a maildir: one that begins is renamed, which one process alone can do. */
const [WAITING, BEGUN] = ['waiting', 'begun'] as const;

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);

const reasonOf = (error: unknown): string => (error as Error).message.replace(/,.*/s, '');

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** An id as the name of a file: ids are free text in a flow that was edited by hand. */
export const fileNameOf = (id: string): string =>
  /^[a-z\d][a-z\d_-]{0,63}$/i.test(id) ? id : `_${hash(id)}`;

const fileOf = (key: string): string => `${fileNameOf(key.split(':').slice(1).join('-'))}.json`;

/** What tells one write of a file from another: each has an inode of its own. */
const markOf = ({ ino, mtimeMs, size }: { ino: number; mtimeMs: number; size: number }): string =>
  `${ino} ${mtimeMs} ${size}`;

interface FilesOptions {
  /** Address and application id: what was written for others is not read, except commands. */
  of: () => string;
  /** Is called with a sentence for the log. */
  log: (line: string) => void;
  now?: () => number;
}

/**
 * Keeps the entries of one process in a folder: a JSON file for each kind, written whole and atomically, and a file for each
 * command. Nothing is locked: a file that this process has not written last shows that another process is there.
 */
export class Files implements StorePort {
  readonly #path: string;
  readonly #options: Required<FilesOptions>;
  readonly #commands = new Semaphore(AT_ONCE);
  /** The files of kinds as this process has left them. */
  readonly #left = new Map<string, string>();
  #foreignAt = -Infinity;
  readonly #syncs = new Map<string, { running: Promise<void>; next?: Promise<void> }>();
  /** The commands that have a file, and those that another process has left. */
  readonly #written = new Set<string>();
  readonly #found = new Set<string>();

  constructor(path: string, options: FilesOptions) {
    this.#path = path;
    this.#options = { now: () => performance.now(), ...options };
  }

  unitOf(key: string): string {
    return kindOf(key) === 'command' ? key : kindOf(key);
  }

  async load(): Promise<Iterable<[key: string, value: unknown]>> {
    const found = new Map<string, unknown>();
    for (const name of await this.#namesIn('')) {
      const file = await this.#read(name);
      if (file?.['of'] !== hash(this.#options.of()) || !isObject(file['entries'])) continue;
      for (const [key, value] of Object.entries(file['entries']))
        if (`${kindOf(key)}.json` === name) found.set(key, value);
    }
    const read = async (folder: string, name: string): Promise<void> => {
      const { key, value } = (await this.#read(join(folder, name))) ?? {};
      // One that was renamed by hand would never be removed.
      if (typeof key !== 'string' || fileOf(key) !== name || !isObject(value)) return;
      this.#written.add(key);
      this.#found.add(key);
      found.set(key, folder === BEGUN ? { ...value, isBegun: true } : value);
    };
    // Those that have begun come last: one that begins meanwhile, in another process, is found as begun.
    for (const folder of [WAITING, BEGUN]) {
      const names = await this.#namesIn(folder);
      await Promise.all(names.map((name) => this.#commands.run(() => read(folder, name))));
    }
    return found;
  }

  async write(unit: string, changes: Entries, all: Entries): Promise<boolean> {
    const isKind = KINDS.includes(unit);
    const write = (): Promise<boolean> =>
      isKind ? this.#writeKind(unit, all) : this.#writeCommand(unit, changes.get(unit));
    try {
      return await write().catch(async (error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
        for (const folder of [WAITING, BEGUN])
          await mkdir(join(this.#path, folder), { recursive: true, mode: 0o700 });
        return write();
      });
    } catch (error) {
      const what = isKind ? 'State' : 'A waiting command';
      throw new Error(
        `${what} does not survive a restart, since ${this.#path} cannot be written: ${reasonOf(error)}.`,
        { cause: error },
      );
    }
  }

  /** The files of a folder, without those that a killed process has left unfinished, which are removed. */
  async #namesIn(folder: string): Promise<string[]> {
    const path = join(this.#path, folder);
    const names = await readdir(path).catch((error: unknown): string[] => {
      if (PASSING.has(codeOf(error))) throw error;
      return [];
    });
    for (const name of names.filter((each) => /\.json\.\d+$/.test(each)))
      await rm(join(path, name), { force: true });
    return names.filter((name) => name.endsWith('.json'));
  }

  /** @returns undefined if it does not exist any more, or is not used: then it is set aside */
  async #read(name: string): Promise<Record<string, unknown> | undefined> {
    const path = join(this.#path, name);
    try {
      const info = await lstat(path);
      if (!info.isFile()) throw new Error('it is no plain file');
      if (info.size > MAX_FILE) throw new Error('it is too large');
      this.#left.set(name, markOf(info));
      const file: unknown = JSON.parse(await readFile(path, 'utf8'));
      if (isObject(file) && Object.entries(FORMAT).every(([key, is]) => file[key] === is))
        return file;
      throw new Error('this version has not written it');
    } catch (error) {
      if (PASSING.has(codeOf(error))) throw error;
      if (codeOf(error) === 'ENOENT') return undefined;
      const aside = `${path}.${randomUUID().slice(0, 8)}.bad`;
      const why = error instanceof SyntaxError ? 'it is torn' : reasonOf(error);
      const now = await rename(path, aside).then(
        () => `It is now called ${aside}`,
        () => 'It stays as it is',
      );
      this.#options.log(`${path} is not used: ${why}. ${now}.`);
      return undefined;
    }
  }

  async #writeKind(kind: string, all: Entries): Promise<boolean> {
    const [name, { now, of }] = [`${kind}.json`, this.#options];
    const path = join(this.#path, name);
    const info = await lstat(path).catch(() => undefined);
    if (info && markOf(info) !== this.#left.get(name)) this.#foreignAt = now();
    if (info) this.#left.set(name, markOf(info));
    if (now() < this.#foreignAt + QUIET)
      throw new Error('another Node-RED uses it. Give each one a user directory');
    const text = JSON.stringify({ ...FORMAT, of: hash(of()), entries: Object.fromEntries(all) });
    if (Buffer.byteLength(text) > MAX_FILE) throw new Error(`${name} would be too large`);
    await writeFileAtomic(path, text, { mode: 0o600 });
    this.#left.set(name, markOf(await lstat(path)));
    if (kind === 'pin' || kind === 'subscribed') await this.#syncFolder('');
    return true;
  }

  /** @returns false if it is to begin, and its file is gone: another process has it, or somebody has removed it */
  async #writeCommand(key: string, value: unknown): Promise<boolean> {
    const pathIn = (folder: string): string => join(this.#path, folder, fileOf(key));
    if (value === undefined) {
      for (const folder of [WAITING, BEGUN]) await rm(pathIn(folder), { force: true });
      this.#written.delete(key);
      return true;
    }
    const { isBegun = false, end } = value as { isBegun?: boolean; end?: unknown };
    const folder = isBegun || end !== undefined ? BEGUN : WAITING;
    if (isBegun && end === undefined && this.#written.has(key)) {
      if (this.#found.has(key) && this.#options.now() < this.#foreignAt + QUIET) return false;
      try {
        await rename(pathIn(WAITING), pathIn(BEGUN));
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return false;
        throw error;
      }
    } else {
      const text = JSON.stringify({ ...FORMAT, key, value });
      if (Buffer.byteLength(text) > MAX_FILE) throw new Error('it would be too large');
      await this.#commands.run(() => writeFileAtomic(pathIn(folder), text, { mode: 0o600 }));
      this.#written.add(key);
      if (folder === BEGUN) await rm(pathIn(WAITING), { force: true });
    }
    await this.#syncFolder(folder);
    return true;
  }

  /** Has the names of files survive a loss of power. Not every system can. What comes meanwhile is one more, for all. */
  #syncFolder(name: string): Promise<void> {
    const { running = Promise.resolve(), next } = this.#syncs.get(name) ?? {};
    if (next) return next;
    const sync = running.then(async () => {
      this.#syncs.set(name, { running: sync });
      const folder = await open(join(this.#path, name), 'r').catch(() => undefined);
      await folder?.sync().catch(() => undefined);
      await folder?.close();
    });
    this.#syncs.set(name, { running, next: sync });
    return sync;
  }
}
