import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { invalidInput } from '../errors';
import { isObject } from '../util/object';
import { Slices } from '../util/slices';
import { BOOK_LIMITS } from './book-file';

/** The bytes of a file are hashed in pieces, so that the event loop turns. */
const PIECE = 2 ** 20;

/** Identifies the content of a file. */
export async function revisionOf(bytes: Buffer, slices = new Slices()): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += PIECE) {
    hash.update(bytes.subarray(from, from + PIECE));
    if (slices.isOver) await slices.next();
  }
  return hash.digest('base64url').slice(0, 22);
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

export const isMissing = (error: unknown): boolean => isObject(error) && error['code'] === 'ENOENT';

/** What a system says that does not let a file be replaced, though it could be written: Linux the first, Windows any. */
const HELD = new Set(['EBUSY', 'EPERM', 'EACCES']);

/** Throws the error of a file that could not be replaced, with what to do about it. @throws the error itself, or one that says that */
export function explainWrite(error: unknown): never {
  if (!isObject(error) || error['syscall'] !== 'rename' || !HELD.has(String(error['code'])))
    throw error;
  throw new Error(
    `The file of the device book cannot be replaced (${String(error['code'])}). Close it in other programs, such as a spreadsheet. ` +
      'If it is mounted into a container by itself, mount its folder instead.',
    { cause: error },
  );
}

/** Changes whenever a file is written or replaced; empty if the file is missing. */
export async function stampOf(path: string): Promise<string> {
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
export async function readBytes(path: string): Promise<Buffer> {
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

/** The path of a file without symbolic links, whether or not it exists. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const folder = resolve(dirname(path));
    return join(await realpath(folder).catch(() => folder), basename(path));
  }
}

/** By real path, the last writing. */
const writing = new Map<string, Promise<unknown>>();

/** Carries out work while nothing else of this process writes a file: several applications may have one book. */
export async function whileNobodyWrites<T>(path: string, work: () => Promise<T>): Promise<T> {
  const real = await realPathOf(path);
  const result = (writing.get(real) ?? Promise.resolve()).then(work);
  const ended = result
    .catch(() => undefined)
    .finally(() => {
      if (writing.get(real) === ended) writing.delete(real);
    });
  writing.set(real, ended);
  return result;
}
