import { createHash } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import writeFileAtomic from 'write-file-atomic';
import { DeviceCloudError, invalidInput, isDeviceCloudError, withoutCode } from '../errors';
import { isObject } from '../util/object';
import { isolated } from '../util/thrown';
import { Slices } from '../util/slices';
import {
  BOOK_LIMITS,
  isText,
  readBookFile,
  type BookFile,
  type BookProblem,
  type BookRow,
} from './book-csv';
import {
  difference,
  disarmedBytes,
  editedBytes,
  EMPTY_BOOK,
  type BookDifference,
} from './book-edit';

export type { BookProblem, BookRow } from './book-csv';

/** Milliseconds between two looks at the file. No file watcher: it does not see what another machine changes on a share. */
const LOOK = 500;
/**
 * Milliseconds that a file must stay as it was read: it may be half written. One that ends within a line, or is no device
 * book, is more likely to be.
 */
const SETTLE = { whole: 60, open: 200, faulty: 500 } as const;
/** Milliseconds after which everything begins without the book: its file may be on a share that does not answer. */
const PATIENCE = 5000;
/** The bytes of a file are hashed in pieces, so that the event loop turns. */
const PIECE = 2 ** 20;

/** Identifies the content of a file. */
async function revisionOf(bytes: Buffer, slices = new Slices()): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += PIECE) {
    hash.update(bytes.subarray(from, from + PIECE));
    if (slices.isOver) await slices.next();
  }
  return hash.digest('base64url').slice(0, 22);
}

const changedMeanwhile = (): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_INPUT',
    'The device book has changed since you opened it, and nothing was written. Load it again and repeat the change.',
    412,
  );

const endsLine = (bytes: Buffer): boolean => bytes.at(-1) === 10 || bytes.at(-1) === 13;

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const isMissing = (error: unknown): boolean => isObject(error) && error['code'] === 'ENOENT';

/** What changes whenever a file is written or replaced; empty if there is none. */
async function stampOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return isMissing(error) ? '' : `? ${messageOf(error)}`;
  }
}

/**
 * The bytes of a file.
 * @throws DeviceCloudError `INVALID_INPUT` if it is no file, and what the file system fails with
 */
async function readBytes(path: string): Promise<Buffer> {
  const info = await stat(path);
  // Opening a pipe or a device may wait, or do something.
  if (!info.isFile())
    throw invalidInput(`The device book ${path} is not a file, but a folder, a device or a pipe.`);
  if (info.size > BOOK_LIMITS.file)
    throw invalidInput(
      `The device book has ${info.size} bytes: at most ${BOOK_LIMITS.file} are read.`,
    );
  return readFile(path);
}

type BookFaults = Pick<BookFile, 'problems' | 'badRows'>;

/** A whole file; or an edit from outside: rows to change or add, and chip numbers to remove. */
export type NewContent = { csv: Buffer } | { edit: unknown };

/**
 * The device book: names, groups, types and notes of devices, in a CSV file that people keep in a spreadsheet and a flow may
 * write. It is read at once, and again when it changes. While a file is no device book, the rows of the last good one stay in
 * use.
 */
export class Book {
  /** Resolves once the file has been read, or cannot be. */
  readonly ready: Promise<void>;
  readonly #path: string;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  /** What is in use. */
  #file: BookFile | undefined;
  #fault: BookProblem | undefined;
  /** Of the content that is in use. */
  #revision = '';
  /** Of the file that was read last. */
  #stamp: string | undefined;
  /** One reading or writing at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param path of the file, which need not exist yet */
  constructor(path: string) {
    this.#path = path;
    const late = sleep(PATIENCE, undefined, { ref: false, signal: this.#closing.signal });
    this.ready = Promise.race([this.#look(), late]).catch(() => undefined);
  }

  /** Identifies the content that is in use; empty before a file was read. Equal content has the same in all processes. */
  get revision(): string {
    return this.#revision;
  }

  /** What is wrong with the file and with rows that are left out, at most 100. */
  get problems(): readonly BookProblem[] {
    return [...(this.#fault ? [this.#fault] : []), ...(this.#file?.problems ?? [])];
  }

  /** How many rows are left out. */
  get badRows(): number {
    return this.#file?.badRows ?? 0;
  }

  /** How many devices it has. */
  get size(): number {
    return this.#file?.devices.size ?? 0;
  }

  /**
   * The row of a device, a new object, which may be changed; undefined if it has none.
   * @param chipid as digits, without leading zeros
   */
  row(chipid: string): BookRow | undefined {
    const row = this.#row(chipid);
    return row && { ...row, groups: [...row.groups] };
  }

  /** Whether a device has a row. @param chipid as for {@link row} */
  has(chipid: string): boolean {
    return this.#row(chipid) !== undefined;
  }

  /** The name of a device; undefined if it has none. @param chipid as for {@link row} */
  name(chipid: string): string | undefined {
    return this.#row(chipid)?.name;
  }

  /** The type of a device; undefined if it has none. @param chipid as for {@link row} */
  typeOf(chipid: string): string | undefined {
    return this.#row(chipid)?.type;
  }

  /** The groups of a device, none if it has no row. @param chipid as for {@link row} */
  groupsOf(chipid: string): readonly string[] {
    return this.#row(chipid)?.groups ?? [];
  }

  /** The chip numbers of a group, in the order of the file; undefined if no device is in it. */
  group(name: string): readonly string[] | undefined {
    return this.#file?.groups.get(name);
  }

  /** All groups, and how many devices are in each. */
  groups(): { name: string; count: number }[] {
    const groups = this.#file?.groups ?? [];
    return Array.from(groups, ([name, { length }]) => ({ name, count: length }));
  }

  /** The chip numbers of all devices, in the order of the file. */
  chipids(): Iterable<string> {
    return this.#file?.devices.keys() ?? [];
  }

  /**
   * Calls back when rows or problems have changed.
   * @returns a function that ends it
   */
  onChange(listener: () => void): () => void {
    // One that is added twice is called twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** The file as it is now, whether or not it is a device book. @throws DeviceCloudError if it is no text that can be edited */
  async content(): Promise<{ bytes: Buffer; revision: string }> {
    const bytes = await this.#bytes();
    return { bytes, revision: await revisionOf(bytes) };
  }

  /** The file as it is now, with formulas disarmed, for a spreadsheet. */
  async export(): Promise<Buffer> {
    const { bytes } = await this.content();
    return disarmedBytes(await readBookFile(bytes));
  }

  /**
   * Says what {@link write} would change. Nothing is written.
   * @throws DeviceCloudError as for `write`
   */
  preview(content: NewContent, revision: string): Promise<BookDifference & BookFaults> {
    return this.#serially(async () => {
      const [before, after] = await this.#make(content, revision);
      const { problems, badRows } = after;
      return { ...(await difference(before, after)), problems, badRows };
    });
  }

  /**
   * Replaces the file as a whole, or some of its rows, atomically. Formulas are disarmed in the new content.
   * @param revision of the content that is replaced, as `content` has returned it
   * @throws DeviceCloudError with `statusCode` 412 if the file has changed since, `INVALID_INPUT` if the new content is no
   * device book, and what the file system fails with; then nothing was written
   */
  write(content: NewContent, revision: string): Promise<void> {
    return this.#serially(async () => {
      const [, after] = await this.#make(content, revision);
      await mkdir(dirname(this.#path), { recursive: true });
      await writeFileAtomic(this.#path, after.bytes);
      await this.#apply(after, await stampOf(this.#path));
    });
  }

  /** Ends the watching of the file. */
  close(): void {
    this.#closing.abort();
    this.#listeners.clear();
  }

  #row(chipid: string): BookRow | undefined {
    return this.#file?.devices.get(chipid)?.row;
  }

  /** Looks at the file at once, and from then on. @returns a promise of the first look */
  #look(): Promise<void> {
    const { signal } = this.#closing;
    const look = this.#serially(() => this.#update());
    look
      .then(() => sleep(LOOK, undefined, { ref: false, signal }))
      .then(() => this.#look())
      .catch(() => undefined);
    return look;
  }

  /** Carries out one piece of work after the other. */
  #serially<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Reads the file if it has changed, until it stays as it was read. It never rejects. */
  async #update(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const { signal } = this.#closing;
      const stamp = await stampOf(this.#path);
      if (stamp === this.#stamp) return;
      const began = performance.now();
      const read = await this.#read();
      const rest = read.settle - (performance.now() - began);
      if (rest > 0) await sleep(rest, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      if ((await stampOf(this.#path)) !== stamp) continue;
      if ('file' in read) await this.#apply(read.file, stamp);
      else this.#fail(read.error, stamp);
      return;
    }
  }

  async #bytes(): Promise<Buffer> {
    let bytes: Buffer;
    try {
      bytes = await readBytes(this.#path);
    } catch (error) {
      if (isMissing(error)) return Buffer.alloc(0);
      throw error;
    }
    if (isText(bytes)) return bytes;
    throw invalidInput(
      'The file of the device book is not text in UTF-8: move it away, or replace it.',
    );
  }

  /** Makes a new content of the file, which has to be of the revision. */
  async #make(
    content: NewContent,
    revision: string,
  ): Promise<[before: BookFile | undefined, after: BookFile]> {
    const { bytes, revision: found } = await this.content();
    if (found !== revision) {
      // Whoever loads it again is to have what it is now.
      await this.#update();
      throw changedMeanwhile();
    }
    if ('edit' in content) {
      const before = bytes.length > 0 ? bytes : Buffer.from(EMPTY_BOOK);
      const file = await readBookFile(before);
      return [file, await readBookFile(await editedBytes(file, content.edit))];
    }
    if (content.csv.length > BOOK_LIMITS.file)
      throw invalidInput(`A device book has at most ${BOOK_LIMITS.file} bytes.`);
    const given = await readBookFile(content.csv);
    const after = await readBookFile(await disarmedBytes(given));
    // What is no device book now has no rows to compare.
    const before = await readBookFile(bytes).catch(() => undefined);
    return [before, after];
  }

  async #read(): Promise<{ settle: number } & ({ file: BookFile } | { error: unknown })> {
    try {
      const bytes = await readBytes(this.#path);
      const file = await readBookFile(bytes);
      return { settle: endsLine(bytes) ? SETTLE.whole : SETTLE.open, file };
    } catch (error) {
      return { settle: SETTLE.faulty, error };
    }
  }

  async #apply(file: BookFile, stamp: string): Promise<void> {
    const revision = await revisionOf(file.bytes);
    if (this.#closing.signal.aborted) return;
    this.#stamp = stamp;
    if (revision === this.#revision && !this.#fault) return;
    this.#file = file;
    this.#revision = revision;
    this.#fault = undefined;
    this.#changed();
  }

  #fail(error: unknown, stamp: string): void {
    const isOfPackage = isDeviceCloudError(error);
    const reason = isMissing(error)
      ? `There is no device book ${this.#path}.`
      : isOfPackage
        ? withoutCode(error)
        : `The device book cannot be read: ${messageOf(error)}.`;
    // What the file system has failed with may have passed the next time.
    this.#stamp = isOfPackage || isMissing(error) ? stamp : undefined;
    if (this.#fault?.reason === reason) return;
    this.#fault = { line: 0, reason };
    this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) isolated(listener);
  }
}
