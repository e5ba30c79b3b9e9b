import { isUtf8 } from 'node:buffer';
import { finished } from 'node:stream/promises';
import { Parser, type Options } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { invalidInput, isDeviceCloudError, withoutCode } from '../errors';
import { parseChipid } from '../input/chipid';
import { show } from '../util/show';
import { Slices } from '../util/slices';

/** The columns that the book itself reads, in any order; all but the first may be missing. */
const BOOK_COLUMNS = ['chipid', 'name', 'groups', 'type', 'note'] as const;
export type BookColumn = (typeof BOOK_COLUMNS)[number];

/** A row of the book. Columns of the user's own are further properties, as text. */
export interface BookRow {
  /** Its chip number, as digits. */
  chipid: string;
  name?: string;
  groups: string[];
  type?: string;
  note?: string;
  [column: string]: string | string[] | undefined;
}

/** What is wrong with a row, which is left out, or with the file as a whole. */
export interface BookProblem {
  /** Line of the file from 1; 0: the file as a whole; an earlier copy stays in use. */
  line: number;
  reason: string;
}

/** Bytes of a file, rows, bytes of one row, groups of a device, characters of a name, a group and a type. */
export const BOOK_LIMITS = {
  file: 16 * 2 ** 20,
  rows: 50_000,
  row: 65_536,
  groups: 100,
  text: 200,
} as const;

/** How a file writes its cells. */
export interface BookFormat {
  /** Between two cells. */
  readonly separator: ',' | ';';
  /** Between two groups of a cell. */
  readonly groupSeparator: ';' | '|';
  /** The header's names, trimmed; {@link BOOK_COLUMNS} in small letters. */
  readonly columns: readonly string[];
}

/** A file that has been read. What could be reused of an earlier one has been. */
export interface BookFile extends BookFormat {
  readonly bytes: Buffer;
  /** Where each record ends in the bytes, line end included. The first is the header. */
  readonly ends: readonly number[];
  /** The row of each record, or its fault; undefined for the header and for a row without content. */
  readonly records: readonly (BookRow | string | undefined)[];
}

/** How csv-parse reads a book: what a spreadsheet or a person may have written is no reason to refuse it. */
export const CSV = {
  bom: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_quotes: true,
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: BOOK_LIMITS.row,
};

/** Bytes that are parsed at once. */
const CHUNK = 4096;

/** The line on which a byte is, counted from 1 at another byte, by default the first of the file. */
export function lineAt(bytes: Buffer, offset: number, from = 0): number {
  let line = 1;
  for (let at = from; at < offset; at++) {
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) line++;
  }
  return line;
}

export const [LF, CR, QUOTE, COMMA, SEMICOLON] = [10, 13, 34, 44, 59];

/** Where a record begins: empty lines before it are skipped. */
export function startOf({ bytes, ends }: Pick<BookFile, 'bytes' | 'ends'>, index: number): number {
  let start = ends[index - 1] ?? 0;
  while (bytes[start] === LF || bytes[start] === CR) start++;
  return start;
}

/** The character that separates the names of the header: the one of the two that is there more often. */
function separatorOf(bytes: Buffer): ',' | ';' {
  let [commas, semicolons, isQuoted] = [0, 0, false];
  for (const byte of bytes.subarray(0, BOOK_LIMITS.row)) {
    if (byte === QUOTE) isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (byte === LF || byte === CR) break;
    if (byte === COMMA) commas++;
    if (byte === SEMICOLON) semicolons++;
  }
  return semicolons > commas ? ';' : ',';
}

/** What begins a formula in a spreadsheet, also behind the apostrophe with which {@link writtenCell} disarms it. */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const NUMBER = /^[+-]\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?$/;
const isFormula = (text: string): boolean => FORMULA.test(text) && !NUMBER.test(text);

/** A text as a cell that no spreadsheet takes for a formula: `=1+1` is written as `'=1+1`. */
export const writtenCell = (text: string): string => (isFormula(text) ? `'${text}` : text);

/** The text of a cell: the reverse of {@link writtenCell}. */
export const cellText = (cell: string): string =>
  cell.startsWith("'") && isFormula(cell.slice(1)) ? cell.slice(1) : cell;

const isKnown = (name: string): name is BookColumn =>
  (BOOK_COLUMNS as readonly string[]).includes(name);

/** @throws DeviceCloudError `INVALID_INPUT` */
function readHeader(cells: readonly string[], separator: ',' | ';'): BookFormat {
  const columns = cells.map((cell) => {
    const name = cellText(cell).trim();
    return isKnown(name.toLowerCase()) ? name.toLowerCase() : name;
  });
  const twice = columns.find((name, index) => name !== '' && columns.indexOf(name) < index);
  if (twice !== undefined)
    throw invalidInput(`The device book has two columns ${show(twice)}: rename one of them.`);
  if (!columns.includes('chipid'))
    throw invalidInput(
      'The first line of the device book must name its columns, one of which is chipid, but is ' +
        `${show(columns.join(separator))}.`,
    );
  return { separator, groupSeparator: separator === ';' ? '|' : ';', columns };
}

const SCIENTIFIC = /^\d+(?:[.,]\d+)?[eE]\+?\d+$/;

/** Reads the cells of rows by the columns of the header. */
export class RowReader {
  readonly #format: BookFormat;
  /** Many devices have the same groups: by the text of their cell. */
  readonly #groups = new Map<string, string[] | string>();

  constructor(format: BookFormat) {
    this.#format = format;
  }

  /** @returns the row, or its fault; undefined if all cells are empty */
  read(cells: readonly string[]): BookRow | string | undefined {
    const { columns } = this.#format;
    if (cells.every((cell) => cell.trim() === '')) return undefined;
    const extra = cells.slice(columns.length);
    if (extra.some((cell) => cell.trim() !== ''))
      return `has ${cells.length} cells, and the header only ${columns.length}: a cell with a separator in it needs quotation marks`;
    const row: BookRow = { chipid: '', groups: [] };
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index] as string;
      const wrong = this.#set(row, column, cellText(cells[index] ?? ''));
      if (wrong !== undefined) return wrong;
    }
    return row;
  }

  /** @returns the fault of the cell, if it has one */
  #set(row: BookRow, column: string, text: string): string | undefined {
    switch (column) {
      case 'chipid':
        return setChipid(row, text.trim());
      case 'groups': {
        const groups = this.#groupsOf(text);
        if (typeof groups === 'string') return groups;
        row.groups = groups;
        return undefined;
      }
      case 'name':
      case 'type': {
        const trimmed = text.trim();
        if (trimmed.length > BOOK_LIMITS.text) return tooLong(column);
        if (trimmed !== '') row[column] = trimmed;
        return undefined;
      }
      case 'note':
        if (text !== '') row.note = text;
        return undefined;
      // An empty name is a column that a spreadsheet has added.
      case '':
      case '__proto__':
        return undefined;
      default:
        row[column] = text;
        return undefined;
    }
  }

  #groupsOf(cell: string): string[] | string {
    let groups = this.#groups.get(cell);
    if (groups === undefined) {
      groups = readGroups(cell, this.#format.groupSeparator);
      this.#groups.set(cell, groups);
    }
    return groups;
  }
}

const tooLong = (column: string): string =>
  `has a ${column} of more than ${BOOK_LIMITS.text} characters`;

function setChipid(row: BookRow, text: string): string | undefined {
  if (text === '') return 'has no chip number';
  try {
    row.chipid = parseChipid(text);
    return undefined;
  } catch {
    if (!SCIENTIFIC.test(text))
      return `has a chip number that must be an integer of 1 to 20 digits, but is ${show(text)}`;
    return `has the chip number ${show(text)}: a spreadsheet has rounded it. Format the column chipid as text, and type the number again`;
  }
}

function readGroups(cell: string, separator: string): string[] | string {
  const names = cell.split(separator).map((name) => name.trim());
  const groups = [...new Set(names.filter((name) => name !== ''))];
  if (groups.length > BOOK_LIMITS.groups)
    return `has ${groups.length} groups: at most ${BOOK_LIMITS.groups} are possible`;
  return groups.some((name) => name.length > BOOK_LIMITS.text) ? tooLong('group') : groups;
}

/** Gives each record away at once: as a stream it would keep some, and `info` would be about a later record. */
class RecordParser extends Parser {
  readonly #onRecord: (cells: string[], end: number) => void;

  constructor(options: Options, onRecord: (cells: string[], end: number) => void) {
    super(options);
    this.#onRecord = onRecord;
  }

  override push(record: unknown): boolean {
    if (record !== null) this.#onRecord(record as string[], this.info.bytes);
    return true;
  }
}

/**
 * What is wrong with a record whose cell begins with a quotation mark that nobody has closed: the lines behind it, up to the
 * next quotation mark of the file, have become part of that cell.
 */
function whyTorn(cells: readonly string[], text: () => string, delimiter: string) {
  if (!cells.some((cell) => cell.startsWith('"') && /[\r\n]/.test(cell))) return undefined;
  try {
    // A cell may well begin with one, written twice.
    parse(text(), { ...CSV, delimiter, relax_quotes: false });
    return undefined;
  } catch {
    return 'has a quotation mark that is not closed: the lines behind it are lost, too';
  }
}

/**
 * Parses records in slices.
 * @param isFile whether they are a whole file, which may begin with a byte order mark
 * @param onRecord is called with the cells of each record, and with the fault of its quotation marks; it must not throw
 * @returns where each record ends
 * @throws DeviceCloudError `INVALID_INPUT` if a quotation mark is not closed
 */
export async function parseRecords(
  bytes: Buffer,
  isFile: boolean,
  separator: string,
  onRecord: (cells: string[], wrong: string | undefined) => void,
): Promise<number[]> {
  const slices = new Slices();
  const ends: number[] = [];
  const options = { ...CSV, bom: isFile, delimiter: separator };
  const parser = new RecordParser(options, (cells, at) => {
    const text = (): string => bytes.toString('utf8', ends.at(-1), at);
    onRecord(cells, whyTorn(cells, text, separator));
    ends.push(at);
  });
  // It destroys itself at the first error, which `finished` repeats.
  parser.on('error', () => undefined);
  for (let from = 0; from < bytes.length && !parser.destroyed; from += CHUNK) {
    const piece = bytes.subarray(from, from + CHUNK);
    await new Promise<void>((resolve) => parser.write(piece, () => resolve()));
    if (slices.isOver) await slices.next();
  }
  parser.end();
  try {
    await finished(parser, { readable: false });
    return ends;
  } catch {
    const line = lineAt(bytes, startOf({ bytes, ends }, ends.length));
    throw invalidInput(
      `The row that begins on line ${line} does not end within ${BOOK_LIMITS.row} characters: a quotation mark is not closed, ` +
        'or a cell is too long.',
    );
  }
}

export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/**
 * Reads a whole file.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export async function readWhole(bytes: Buffer): Promise<BookFile> {
  const separator = separatorOf(bytes);
  const records: BookFile['records'][number][] = [];
  let format: BookFormat | undefined;
  let reader: RowReader | undefined;
  let wrong: unknown = invalidInput(
    'The device book is empty: its first line must name its columns.',
  );
  const ends = await parseRecords(bytes, true, separator, (cells, torn) => {
    records.push(torn ?? reader?.read(cells));
    if (records.length > 1) return;
    try {
      format = readHeader(cells, separator);
      reader = new RowReader(format);
    } catch (error) {
      wrong = error;
    }
  });
  if (!format) throw wrong;
  return { ...format, bytes, ends, records };
}

/** What is wrong with a file as a whole, without the code. */
export const faultOf = (error: unknown): string =>
  isDeviceCloudError(error)
    ? withoutCode(error)
    : error instanceof Error
      ? error.message
      : String(error);
