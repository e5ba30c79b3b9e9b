import { constants } from 'node:fs';
import { copyFile, open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import writeFileAtomic from 'write-file-atomic';
import { codeOf } from './lock';

/** The first line of each journal. */
const HEADER = '{"format":"device-cloud-journal","version":1}\n';

/** Bytes of the largest journal that is read. */
const MAX_FILE = 256 * 2 ** 20;

/** Lines that say nothing any more, and their bytes, beside what the entries take, after which a journal is written anew. */
const DEAD = { lines: 1000, bytes: 2 ** 20 };

interface JournalOptions {
  /** Is called with a sentence for the log. */
  log: (line: string) => void;
  /** Whether this process may still write. */
  isMine: () => Promise<boolean>;
}

interface Change {
  key: string;
  line: string;
  isRemoval: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Values by key, in a file to which each change is appended: a line `[key, value]`, or `[key]` for one that is gone. The
 * last line of a process that was killed may be torn: it is cut off. Changes that come together are one write and one fsync.
 */
export class Journal {
  readonly #path: string;
  readonly #options: JournalOptions;
  /** The line of each entry, in the order in which they were first set. */
  readonly #lines = new Map<string, string>();
  #file!: FileHandle;
  /** Bytes up to the end of the last whole line. */
  #size = 0;
  #dead = 0;
  /** Bytes of the lines of the entries. */
  #live = 0;
  #changes: Change[] = [];
  #writing: Promise<void> | undefined;

  private constructor(path: string, options: JournalOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** @throws Error if the file cannot be read or written */
  static async open(path: string, options: JournalOptions): Promise<Journal> {
    const journal = new Journal(path, options);
    await journal.#open();
    return journal;
  }

  /** Bytes that the entries take. */
  get bytes(): number {
    return this.#live;
  }

  /** The entries, in the order in which they were first set. */
  entries(): [key: string, value: unknown][] {
    return [...this.#lines].map(([key, line]) => [key, (JSON.parse(line) as unknown[])[1]]);
  }

  /**
   * Sets an entry.
   * @param value what JSON can hold
   * @returns a promise that resolves when it is on the disk
   * @throws Error if it could not be written: then the entry is as before
   */
  set(key: string, value: unknown): Promise<void> {
    return this.#change(key, JSON.stringify([key, value]) + '\n', false);
  }

  /**
   * Removes an entry.
   * @returns a promise that resolves when the operating system has it: a process that is killed does not lose it
   * @throws Error if it could not be written: then the entry is as before
   */
  delete(key: string): Promise<void> {
    return this.#change(key, JSON.stringify([key]) + '\n', true);
  }

  /**
   * Forgets all entries, when one that has changed could not be written. It needs no room on the disk.
   * @throws Error if that fails, too, or the journal is another process's by now
   */
  async abandon(): Promise<void> {
    while (this.#writing) await this.#writing;
    const forgetting = this.#forgetAll();
    this.#writing = forgetting.catch(() => undefined).then(() => this.#writeAll());
    await forgetting;
  }

  /** Resolves once everything has been written. Nothing can be set after it, and nothing is left of entries that are gone. */
  async close(): Promise<void> {
    while (this.#writing) await this.#writing;
    if (this.#dead > 0 && (await this.#options.isMine()))
      await this.#rewrite().catch(() => undefined);
    await this.#file.close().catch(() => undefined);
  }

  async #open(): Promise<void> {
    const text = await this.#read();
    if (text === undefined) await this.#rewrite();
    else {
      const damaged = this.#parse(text);
      if (damaged > 0) {
        const copy = `${this.#path}.set-aside`;
        await copyFile(this.#path, copy);
        this.#options.log(`${damaged} lines of ${this.#path} cannot be read. ${copy} has them.`);
      }
      // Entries that are gone hold what was sent.
      if (damaged > 0 || this.#dead > 0) await this.#rewrite();
      else await this.#reopen(this.#size);
    }
  }

  /** @returns whole lines; undefined if there is no journal */
  async #read(): Promise<string | undefined> {
    const { log } = this.#options;
    try {
      const { size } = await stat(this.#path);
      const bytes = size <= MAX_FILE ? await readFile(this.#path) : Buffer.alloc(0);
      this.#size = bytes.lastIndexOf('\n') + 1;
      const whole = bytes.toString('utf8', 0, this.#size);
      if (whole.startsWith(HEADER)) {
        if (this.#size < bytes.length)
          log(`The last entry of ${this.#path} was not written whole, and is left out.`);
        return whole;
      }
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      if (codeOf(error) !== 'EISDIR') throw error;
    }
    await setAside(this.#path, log);
    return undefined;
  }

  /** @returns how many lines could not be read */
  #parse(text: string): number {
    let damaged = 0;
    for (let from = HEADER.length; from < text.length;) {
      const end = text.indexOf('\n', from) + 1;
      const line = text.slice(from, end);
      from = end;
      const entry = entryOf(line);
      if (entry) this.#apply(entry[0], entry.length === 2 ? line : undefined);
      else damaged++;
    }
    return damaged;
  }

  #change(key: string, line: string, isRemoval: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#changes.push({ key, line, isRemoval, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#changes.length > 0) {
      const changes = this.#changes.splice(0);
      try {
        await this.#checkMine();
        await this.#write(changes);
        for (const each of changes) {
          this.#apply(each.key, each.isRemoval ? undefined : each.line);
          each.resolve();
        }
      } catch (error) {
        // What was written of it is torn. If it cannot be cut off now, the next write begins at the same place.
        await this.#file.truncate(this.#size).catch(() => undefined);
        for (const each of changes) each.reject(error);
      }
      if (this.#lines.size === 0 && this.#dead > 0) await this.#forgetAll().catch(() => undefined);
      else if (this.#isDue) await this.#rewrite().catch(() => undefined);
    }
    this.#writing = undefined;
  }

  async #forgetAll(): Promise<void> {
    await this.#checkMine();
    const size = Buffer.byteLength(HEADER);
    await this.#file.truncate(size);
    this.#lines.clear();
    this.#size = size;
    this.#dead = this.#live = 0;
  }

  async #checkMine(): Promise<void> {
    if (!(await this.#options.isMine()))
      throw new Error(`Another process has taken over ${this.#path}, or it was removed.`);
  }

  async #write(changes: readonly Change[]): Promise<void> {
    const bytes = Buffer.from(changes.map(({ line }) => line).join(''));
    for (let from = 0; from < bytes.length;) {
      const { bytesWritten } = await this.#file.write(
        bytes,
        from,
        bytes.length - from,
        this.#size + from,
      );
      from += bytesWritten;
    }
    if (changes.some(({ isRemoval }) => !isRemoval)) await this.#file.datasync();
    this.#size += bytes.length;
  }

  /** @param line undefined if the entry is gone */
  #apply(key: string, line: string | undefined): void {
    const before = this.#lines.get(key);
    if (before !== undefined) {
      this.#dead++;
      this.#live -= Buffer.byteLength(before);
    }
    if (line === undefined) {
      this.#dead++;
      this.#lines.delete(key);
    } else {
      this.#live += Buffer.byteLength(line);
      this.#lines.set(key, line);
    }
  }

  /** Whether the journal is to be written anew, with its entries alone. */
  get #isDue(): boolean {
    return (
      this.#dead > DEAD.lines + 2 * this.#lines.size || this.#size > DEAD.bytes + 3 * this.#live
    );
  }

  async #rewrite(): Promise<void> {
    const text = HEADER + [...this.#lines.values()].join('');
    await writeFileAtomic(this.#path, text, { mode: 0o600 });
    this.#dead = 0;
    await this.#reopen(Buffer.byteLength(text));
  }

  async #reopen(size: number): Promise<void> {
    const before = this.#file as FileHandle | undefined;
    this.#file = await open(this.#path, constants.O_RDWR);
    // One that was copied back may be open to others.
    await this.#file.chmod(0o600).catch(() => undefined);
    await before?.close();
    await this.#file.truncate(size);
    this.#size = size;
  }
}

function entryOf(line: string): [key: string, value?: unknown] | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return Array.isArray(entry) && typeof entry[0] === 'string' && entry.length <= 2
      ? (entry as [string, unknown?])
      : undefined;
  } catch {
    return undefined;
  }
}

/** Renames a file that is not ours, or not whole, so that a person can look at it. */
export async function setAside(path: string, log: (line: string) => void): Promise<void> {
  const aside = `${path}.set-aside`;
  await rm(aside, { force: true, recursive: true });
  await rename(path, aside);
  log(`${path} was not written whole by this package. It is now ${aside}, and begins empty.`);
}
