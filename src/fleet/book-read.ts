import { invalidInput } from '../errors';
import { Slices } from '../util/slices';
import {
  BOOK_LIMITS,
  CR,
  isText,
  LF,
  parseRecords,
  readWhole,
  RowReader,
  type BookFile,
} from './book-csv';

/**
 * Reads the bytes of a file, in slices of a few milliseconds.
 * @param before an earlier file: equal records of it are reused
 * @throws DeviceCloudError `INVALID_INPUT` if it is no device book
 */
export async function readBookFile(bytes: Buffer, before?: BookFile): Promise<BookFile> {
  if (!isText(bytes))
    throw invalidInput(
      'The device book must be text in UTF-8: in a spreadsheet, save it as "CSV UTF-8".',
    );
  return (before && (await readChanges(bytes, before))) ?? readWhole(bytes);
}

/** How many bytes are equal from the beginning or, with `isEnd`, from the end, at most `most`. */
function equalBytes(one: Buffer, other: Buffer, most: number, isEnd: boolean): number {
  const from = (buffer: Buffer, done: number, length: number): Buffer =>
    isEnd
      ? buffer.subarray(buffer.length - done - length, buffer.length - done)
      : buffer.subarray(done, done + length);
  let done = 0;
  for (let length = BLOCK; length >= 1; length = length > 1 ? length / 2 : 0) {
    while (done + length <= most && from(one, done, length).equals(from(other, done, length)))
      done += length;
  }
  return done;
}

/** Bytes that are compared at once; a power of two. */
const BLOCK = 65_536;

/**
 * What of an earlier file is also at the beginning and at the end of a new one, in whole records. People and flows change a
 * few rows of many.
 * @returns how many records from the beginning, and the index from which on
 */
function reusable(before: BookFile, bytes: Buffer): { head: number; tail: number } {
  const { bytes: old, ends } = before;
  const least = Math.min(old.length, bytes.length);
  const same = equalBytes(old, bytes, least, false);
  let head = 0;
  while (
    head < ends.length &&
    (ends[head] as number) <= same &&
    old[(ends[head] as number) - 1] === LF
  )
    head++;
  const used = ends[head - 1] ?? 0;
  const first = old.length - equalBytes(old, bytes, least - used, true);
  let tail = ends.length;
  // The line end before the record is equal, too.
  while (
    tail > head &&
    (ends[tail - 1] as number) > first &&
    old[(ends[tail - 1] as number) - 1] === LF
  )
    tail--;
  return { head, tail: tail + 1 };
}

/** A record of the earlier file, or bytes that are not one. */
interface Piece {
  /** Where it ends in the new file. */
  readonly end: number;
  /** Of the record in the earlier file; undefined: the bytes have to be parsed. */
  readonly index: number | undefined;
}

/** Divides a part of the new file, which begins with a record, into lines that are records of the earlier one and the rest. */
async function piecesOf(
  bytes: Buffer,
  [from, to]: readonly [number, number],
  { bytes: old, ends }: BookFile,
  [head, tail]: readonly [number, number],
): Promise<Piece[]> {
  const slices = new Slices();
  // Wherever it is now: a spreadsheet may have sorted the rows.
  const known = new Map<string, number>();
  for (let index = head; index < Math.min(tail, ends.length); index++) {
    if (slices.isOver) await slices.next();
    known.set(old.toString('latin1', ends[index - 1] ?? 0, ends[index]), index);
  }
  const pieces: Piece[] = [];
  let open = from;
  for (let at = from; at < to;) {
    if (slices.isOver) await slices.next();
    const next = bytes.indexOf(LF, at) + 1;
    const end = next === 0 || next > to ? to : next;
    const index =
      end - at > BOOK_LIMITS.row ? undefined : known.get(bytes.toString('latin1', at, end));
    if (index !== undefined) {
      if (open < at) pieces.push({ end: at, index: undefined });
      pieces.push({ end, index });
      open = end;
    }
    at = end;
  }
  if (open < to) pieces.push({ end: to, index: undefined });
  return pieces;
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === LF || byte === CR);

/** Parses the records that the earlier file does not have. @returns undefined if they are not whole records */
async function parsePieces(
  bytes: Buffer,
  from: number,
  pieces: readonly Piece[],
  before: BookFile,
): Promise<Pick<BookFile, 'ends' | 'records'> | undefined> {
  const starts = pieces.map((_, at) => pieces[at - 1]?.end ?? from);
  const unknown = pieces.flatMap(({ end, index }, at) =>
    index === undefined ? [bytes.subarray(starts[at], end)] : [],
  );
  const parsed = Buffer.concat(unknown);
  const reader = new RowReader(before);
  const rows: BookFile['records'][number][] = [];
  const rowEnds = await parseRecords(parsed, false, before.separator, (cells, torn) => {
    rows.push(torn ?? reader.read(cells));
  });
  const ends: number[] = [];
  const records: BookFile['records'][number][] = [];
  let [taken, done] = [0, 0];
  for (const [at, { end, index }] of pieces.entries()) {
    if (index !== undefined) {
      ends.push(end);
      records.push(before.records[index]);
      continue;
    }
    const moved = (starts[at] ?? from) - done;
    done += end - (starts[at] ?? from);
    while ((rowEnds[taken] ?? Infinity) <= done) {
      ends.push((rowEnds[taken] ?? 0) + moved);
      records.push(rows[taken++]);
    }
    // A cell with line ends, which has a line like a record of the earlier file.
    if (!isBlank(parsed.subarray(rowEnds[taken - 1] ?? 0, done))) return undefined;
  }
  return { ends, records };
}

/** Parses only what was not in the earlier file. @returns undefined if there is nothing to reuse */
async function readChanges(bytes: Buffer, before: BookFile): Promise<BookFile | undefined> {
  const { separator, groupSeparator, columns } = before;
  const { head, tail } = reusable(before, bytes);
  if (head === 0) return undefined;
  const moved = bytes.length - before.bytes.length;
  const from = before.ends[head - 1] ?? 0;
  const to = (before.ends[tail - 1] ?? before.bytes.length) + moved;
  try {
    const pieces = await piecesOf(bytes, [from, to], before, [head, tail]);
    const changed = await parsePieces(bytes, from, pieces, before);
    if (!changed) return undefined;
    const later = before.ends.slice(tail).map((end) => end + moved);
    return {
      ...{ separator, groupSeparator, columns, bytes },
      // Spread, they take ten times as long.
      ends: before.ends.slice(0, head).concat(changed.ends, later),
      records: before.records.slice(0, head).concat(changed.records, before.records.slice(tail)),
    };
  } catch {
    // The error of the whole file names the line.
    return undefined;
  }
}
