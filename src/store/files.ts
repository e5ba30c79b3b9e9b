import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../util/json';
import writeFileAtomic from 'write-file-atomic';
import { Semaphore } from '../util/semaphore';
import { Coalescer, KINDS, kindOf, type Entries, type StorePort } from './store';

/** The first property of each file: what has another one is foreign, or of another version. */
const FORMAT = 'device-cloud 1';

/** Bytes of the largest file: what is larger is neither written nor read. */
const MAX_FILE = 50 * 2 ** 20;

/** Milliseconds without a write of another process, after which this one writes again. */
const QUIET = 60_000;

/** Files of commands that are read or written side by side: there may be 10,000, and the event loop turns in between. */
const AT_ONCE = 16;

/** What passes: no handle, no memory, a disk that stutters. */
const PASSING = new Set('EAGAIN EBUSY EIO EMFILE ENFILE ENOMEM ETIMEDOUT'.split(' '));

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);

const reasonOf = (error: unknown): string => (error as Error).message.replace(/,.*/s, '');

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** An id as the name of a file: ids are free text in a flow that was edited by hand. */
export const fileNameOf = (id: string): string =>
  /^[a-z\d][a-z\d_-]{0,63}$/i.test(id) ? id : `_${hash(id)}`;

const kindFile = (kind: string): string => `${kind}.json`;
/** A command is renamed when it begins, as in a maildir: one process alone can do that. */
const commandFile = (key: string, isBegun: boolean): string =>
  `${fileNameOf(key)}${isBegun ? '.begun' : '.waiting'}.json`;

/** Bytes of a file in which its first properties are, and among them which write it is. */
const HEAD = 256;
const WRITE = /"write":"([^"]*)"/;

/** Which write a file is: its time and inode do not tell, since some shares and mounts change them later. Undefined without a file. */
async function writeOf(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  if (!file) return undefined;
  try {
    const { buffer } = await file.read(Buffer.alloc(HEAD), 0, HEAD);
    return WRITE.exec(buffer.toString('latin1'))?.[1] ?? '';
  } finally {
    await file.close();
  }
}

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
  readonly #limiter = new Semaphore(AT_ONCE);
  /** Which write of another process the file of a kind was when it was last looked at. */
  readonly #found = new Map<string, unknown>();
  readonly #process = randomUUID().slice(0, 8);
  #writes = 0;
  #sharedUntil = -Infinity;
  /** The files of commands, and the commands that an earlier process has left. */
  readonly #commands = new Map<string, string>();
  readonly #restored = new Set<string>();
  /** Has the names of files survive a loss of power. Not every system can. */
  readonly #syncs = new Coalescer(async () => {
    const folder = await open(this.#path, 'r').catch(() => undefined);
    await folder?.sync().catch(() => undefined);
    await folder?.close();
  });

  constructor(path: string, options: FilesOptions) {
    this.#path = path;
    this.#options = { now: () => performance.now(), ...options };
  }

  unitOf(key: string): string {
    return kindOf(key) === 'command' ? key : kindOf(key);
  }

  async load(): Promise<Iterable<[key: string, value: unknown]>> {
    const found = new Map<string, unknown>();
    const names = await readdir(this.#path).catch((error: unknown): string[] => {
      if (PASSING.has(codeOf(error))) throw error;
      return [];
    });
    await Promise.all(names.map((name) => this.#limiter.run(() => this.#read(name, found))));
    return found;
  }

  async write(unit: string, changes: Entries, all: () => Entries): Promise<boolean> {
    try {
      if (KINDS.includes(unit)) return await this.#writeKind(unit, all());
      const value = changes.get(unit);
      const isWritten = await this.#limiter.run(() => this.#writeCommand(unit, value));
      // Those beyond the limiter's number share one sync, which takes 0.2 s on a slow card: many devices may wake at once.
      if (isWritten && value !== undefined) await this.#syncs.run();
      return isWritten;
    } catch (cause) {
      const why = `since ${this.#path} cannot be written: ${reasonOf(cause)}`;
      throw new Error(`State does not survive a restart, ${why}.`, { cause });
    }
  }

  /** Reads the entries of a file. One that is not used is set aside. */
  async #read(name: string, found: Map<string, unknown>): Promise<void> {
    const path = join(this.#path, name);
    // A process that was killed while it wrote has left it.
    if (/\.json\.\d+$/.test(name)) await rm(path, { force: true });
    if (!name.endsWith('.json')) return;
    try {
      const info = await lstat(path);
      if (!info.isFile()) throw new Error('it is no plain file');
      if (info.size > MAX_FILE) throw new Error('it is too large');
      const file: unknown = JSON.parse(await readFile(path, 'utf8'));
      const { format, of, write, entries } = isObject(file) ? file : {};
      this.#found.set(name, write);
      if (format !== FORMAT || !isObject(entries))
        throw new Error('this version has not written it');
      const isOwn = of === hash(this.#options.of());
      for (const [key, value] of Object.entries(entries)) {
        const isBegun = name.endsWith('.begun.json');
        if (isOwn && name === kindFile(kindOf(key))) found.set(key, value);
        // One of a file that was renamed by hand would never be removed.
        if (kindOf(key) !== 'command' || name !== commandFile(key, isBegun)) continue;
        found.set(key, isBegun ? { ...(value as object), isBegun } : value);
        this.#commands.set(key, name);
        this.#restored.add(key);
      }
    } catch (error) {
      if (PASSING.has(codeOf(error))) throw error;
      if (codeOf(error) === 'ENOENT') return;
      const aside = `${path}.${randomUUID().slice(0, 8)}.bad`;
      const why = error instanceof SyntaxError ? 'it is torn' : reasonOf(error);
      const now = await rename(path, aside).then(
        () => `It is now called ${aside}`,
        () => 'It stays as it is',
      );
      this.#options.log(`${path} is not used: ${why}. ${now}.`);
    }
  }

  async #put(name: string, entries: object): Promise<void> {
    const write = `${this.#process} ${++this.#writes}`;
    const text = JSON.stringify({ format: FORMAT, of: hash(this.#options.of()), write, entries });
    if (Buffer.byteLength(text) > MAX_FILE) throw new Error(`${name} would be too large`);
    const replace = (): Promise<void> => replaceFile(join(this.#path, name), text, 0o600);
    try {
      await replace();
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await mkdir(this.#path, { recursive: true, mode: 0o700 });
      await replace();
    }
  }

  async #writeKind(kind: string, all: Entries): Promise<boolean> {
    const name = kindFile(kind);
    const now = this.#options.now();
    const found = await writeOf(join(this.#path, name));
    // One that was reported as failed may be on the disk all the same.
    const isOwn = found?.startsWith(this.#process) ?? true;
    if (!isOwn && found !== this.#found.get(name)) {
      this.#sharedUntil = now + QUIET;
      this.#found.set(name, found);
    }
    if (now < this.#sharedUntil)
      throw new Error('another Node-RED uses it. Give each one a user directory');
    await this.#put(name, Object.fromEntries(all));
    if (kind === 'pin' || kind === 'subscribed') await this.#syncs.run();
    return true;
  }

  /** @returns false if its file is gone when it begins or ends: another process has it, or somebody has removed it */
  async #writeCommand(key: string, value: unknown): Promise<boolean> {
    const before = this.#commands.get(key);
    if (value === undefined) {
      if (before) await rm(join(this.#path, before), { force: true });
      this.#commands.delete(key);
      return true;
    }
    const { isBegun = false, end } = value as { isBegun?: boolean; end?: unknown };
    const name = commandFile(key, isBegun || end !== undefined);
    if (before && before !== name) {
      if (this.#restored.has(key) && this.#options.now() < this.#sharedUntil) return false;
      try {
        await rename(join(this.#path, before), join(this.#path, name));
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return false;
        throw error;
      }
      this.#commands.set(key, name);
    }
    // That it has begun, the name says.
    if (!before || before === name || end !== undefined) await this.#put(name, { [key]: value });
    this.#commands.set(key, name);
    return true;
  }
}

/**
 * Replaces a file as a whole, or leaves it as it is. The library writes once, and does not look how much of it the system has
 * taken: on a disk that has room for a part, that part would replace the file. So all is written here, before the library has it
 * survive a loss of power and renames it.
 * @param mode of a new file; default: as of the one before
 */
export const replaceFile = (
  path: string,
  content: string | Buffer,
  mode?: number,
): Promise<void> => {
  // It waits for what the function returns, which its types do not say.
  const tmpfileCreated = (file: string): unknown => writeFile(file, content);
  return writeFileAtomic(path, '', { ...(mode !== undefined && { mode }), tmpfileCreated });
};
