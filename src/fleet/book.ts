import { createHash } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeviceCloudError, invalidInput, isDeviceCloudError, withoutCode } from '../errors';
import { replaceFile } from '../store/files';
import { csvForm } from '../util/csv';
import { isObject } from '../util/json';
import { isolated } from '../protocol/values';
import {
  difference,
  disarmedBytes,
  editedBytes,
  EMPTY_BOOK,
  type BookDifference,
} from './book-edit';
import {
  BOOK_LIMITS,
  BookFile,
  isText,
  readBookFile,
  type BookProblem,
  type BookRow,
} from './book-file';

export type { BookProblem, BookRow } from './book-file';

/**
 * Milliseconds between two looks at the file. No file watcher: it does not see what another machine changes on a share. A file
 * that has changed is read once it is the same at two looks, since it may be half written.
 */
const LOOK = 500;
/** Milliseconds after which everything begins without the book: its file may be on a share that does not answer. */
const PATIENCE = 5000;

/** Identifies the content of a file. */
const revisionOf = (bytes: Buffer): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, 22);

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const isMissing = (error: unknown): boolean => isObject(error) && error['code'] === 'ENOENT';

/** What a system says that does not let a file be replaced, though it could be written: Linux the first, Windows any. */
const HELD = new Set(['EBUSY', 'EPERM', 'EACCES']);

/** Throws the error of a file that could not be replaced, with what to do about it. */
function explainWrite(error: unknown): never {
  if (!isObject(error) || error['syscall'] !== 'rename' || !HELD.has(String(error['code'])))
    throw error;
  throw new Error(
    `The file of the device book cannot be replaced (${String(error['code'])}). Close it in other programs, such as a spreadsheet. ` +
      'If it is mounted into a container by itself, mount its folder instead.',
    { cause: error },
  );
}

/** Changes whenever a file is written or replaced; empty if the file is missing. */
async function stampOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return isMissing(error) ? '' : `? ${messageOf(error)}`;
  }
}

/** @throws DeviceCloudError `INVALID_INPUT` if it is no file, and what the file system fails with */
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

/** The last writing of this process: several applications may have one book, by whatever path. */
let writing: Promise<unknown> = Promise.resolve();

const changedMeanwhile = (): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_INPUT',
    'The device book has changed since you opened it, and nothing was written. Load it again and repeat the change.',
    412,
  );

type BookFaults = Pick<BookFile, 'problems' | 'badRows' | 'warnings'>;

interface NewFile {
  before: BookFile | undefined;
  /** As it was given, so that lines are those of what was given. */
  after: BookFile;
  bytes: Buffer;
}

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
  #file = new BookFile(csvForm(Buffer.from(EMPTY_BOOK)), false);
  #fault: BookProblem | undefined;
  /** Of the content that is in use. */
  #revision = '';
  /** Of the file that was read last, and of the file as it was seen last. */
  #stamp: string | undefined;
  #seen: string | undefined;
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

  /** The content that is in use: devices, groups and types; empty before a file was read. */
  get file(): BookFile {
    return this.#file;
  }

  /** What is wrong with the file and with rows that are left out, some hundred of them at most. */
  get problems(): readonly BookProblem[] {
    return [...(this.#fault ? [this.#fault] : []), ...this.#file.problems];
  }

  /** Whether there is a file. */
  get isWritten(): boolean {
    return this.#seen !== '';
  }

  /**
   * The row of a device, a new object, which may be changed; undefined if it has none.
   * @param chipid as digits, without leading zeros
   */
  row(chipid: string): BookRow | undefined {
    const row = this.find(chipid);
    return row && { ...row, groups: [...row.groups] };
  }

  /** The row itself, as for {@link row}. */
  find(chipid: string): Readonly<BookRow> | undefined {
    return this.#file.devices.get(chipid);
  }

  /** All groups, and how many devices are in each. */
  groups(): { name: string; count: number }[] {
    return Array.from(this.#file.groups, ([name, { length }]) => ({ name, count: length }));
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
    const bytes = await readBytes(this.#path).catch((error: unknown) => {
      if (isMissing(error)) return Buffer.alloc(0);
      throw error;
    });
    if (isText(bytes)) return { bytes, revision: revisionOf(bytes) };
    throw invalidInput(
      'The file of the device book is not text in UTF-8: move it away, or replace it.',
    );
  }

  /** The file as it is now, with formulas disarmed, for a spreadsheet. */
  async export(): Promise<Buffer> {
    const { bytes } = await this.content();
    return disarmedBytes(await readBookFile(bytes, true));
  }

  /**
   * Says what {@link write} would change. Nothing is written.
   * @throws DeviceCloudError as for `write`
   */
  preview(content: NewContent, revision: string): Promise<BookDifference & BookFaults> {
    return this.#serially(async () => {
      const { before, after } = await this.#make(content, revision);
      const { problems, badRows, warnings } = after;
      return { ...(await difference(before, after)), problems, badRows, warnings };
    });
  }

  /**
   * Replaces the file as a whole, or some of its rows, atomically. Formulas are disarmed in the new content.
   * @param revision of the content that is replaced, as `content` has returned it
   * @throws DeviceCloudError with `statusCode` 412 if the file has changed since, `INVALID_INPUT` if the new content is no
   * device book, and what the file system fails with; then nothing was written
   */
  write(content: NewContent, revision: string): Promise<void> {
    const write = async (): Promise<void> => {
      const { bytes } = await this.#make(content, revision);
      const file = await readBookFile(bytes);
      await mkdir(dirname(this.#path), { recursive: true });
      await replaceFile(this.#path, bytes).catch(explainWrite);
      this.#apply(file, revisionOf(bytes), await stampOf(this.#path));
    };
    return this.#serially(() => {
      const written = writing.then(write);
      writing = written.catch(() => undefined);
      return written;
    });
  }

  /** Ends the watching of the file. */
  close(): void {
    this.#closing.abort();
    this.#listeners.clear();
  }

  /** Looks at the file at once, and from then on. @returns a promise of the first look */
  #look(isFirst = true): Promise<void> {
    const { signal } = this.#closing;
    const look = this.#serially(() => this.#update(isFirst));
    look
      .then(() => sleep(LOOK, undefined, { ref: false, signal }))
      .then(() => this.#look(false))
      .catch(() => undefined);
    return look;
  }

  /** Carries out one piece of work after the other. */
  #serially<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Reads the file if it has changed. It never rejects. @param atOnce even if it may be half written */
  async #update(atOnce: boolean): Promise<void> {
    const stamp = await stampOf(this.#path);
    const isSettled = stamp === this.#seen;
    this.#seen = stamp;
    if (stamp === this.#stamp || !(isSettled || atOnce)) return;
    try {
      const bytes = await readBytes(this.#path);
      const file = await readBookFile(bytes);
      const revision = revisionOf(bytes);
      const isWhole = atOnce || (await stampOf(this.#path)) === stamp;
      if (isWhole) this.#apply(file, revision, stamp);
    } catch (error) {
      this.#fail(error, stamp);
    }
  }

  /** Makes a new content of the file, which has to be of the revision. */
  async #make(content: NewContent, revision: string): Promise<NewFile> {
    const { bytes: old, revision: found } = await this.content();
    if (found !== revision) {
      // Whoever loads it again is to have what it is now.
      await this.#update(true);
      throw changedMeanwhile();
    }
    if ('edit' in content) {
      const before = await readBookFile(old.length > 0 ? old : Buffer.from(EMPTY_BOOK), true);
      const bytes = await editedBytes(before, content.edit);
      return { before, after: await readBookFile(bytes), bytes };
    }
    if (content.csv.length > BOOK_LIMITS.file)
      throw invalidInput(`A device book has at most ${BOOK_LIMITS.file} bytes.`);
    const after = await readBookFile(content.csv, true);
    const bytes = await disarmedBytes(after);
    // What is no device book now has no rows to compare.
    const before = await readBookFile(old).catch(() => undefined);
    return { before, after, bytes };
  }

  #apply(file: BookFile, revision: string, stamp: string): void {
    if (this.#closing.signal.aborted) return;
    this.#stamp = this.#seen = stamp;
    if (revision === this.#revision && !this.#fault) return;
    this.#file = file;
    this.#revision = revision;
    this.#fault = undefined;
    this.#changed();
  }

  #fail(error: unknown, stamp: string): void {
    if (this.#closing.signal.aborted) return;
    const isOfPackage = isDeviceCloudError(error);
    // What the file system has failed with may have passed the next time.
    this.#stamp = isOfPackage || isMissing(error) ? stamp : undefined;
    const reason = isOfPackage
      ? withoutCode(error)
      : isMissing(error)
        ? `The file of the device book, ${this.#path}, is gone.`
        : `The device book cannot be read: ${messageOf(error)}.`;
    // A book that nobody has written yet has no fault.
    const isNew = isMissing(error) && this.#revision === '';
    const fault = isNew ? undefined : { line: 0, reason };
    if (this.#fault?.reason === fault?.reason) return;
    this.#fault = fault;
    this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) isolated(listener);
  }
}
