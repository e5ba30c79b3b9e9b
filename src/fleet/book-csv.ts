import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import { Parser, type Options } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { invalidInput, isDeviceCloudError } from '../errors';
import { chipidOf } from '../input/chipid';
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

/** A record of a file. */
export interface BookRecord {
  /** Where it is in the bytes, line end included. Empty lines belong to no record. */
  readonly start: number;
  readonly end: number;
  /** The line on which it begins, from 1. */
  readonly line: number;
  /** Its row, or its fault; undefined for the header and for a row without content. */
  readonly row: BookRow | string | undefined;
}

/** A record whose row counts. */
export type DeviceRow = BookRecord & { readonly row: BookRow };

const MAX_PROBLEMS = 100;

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

const [LF, CR] = [10, 13];

/** The character that separates the names of the header: the one of the two that is there more often. */
function separatorOf(bytes: Buffer): ',' | ';' {
  const unquoted = bytes.toString('latin1', 0, BOOK_LIMITS.row).replace(/"[^"]*"/g, '');
  const [header = ''] = unquoted.split(/[\r\n]/, 1);
  return header.split(';').length > header.split(',').length ? ';' : ',';
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
function readHeader(cells: readonly string[], separator: string): string[] {
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
  return columns;
}

const SCIENTIFIC = /^\d+(?:[.,]\d+)?[eE]\+?\d+$/;

/** A device book. It reads its records one after the other. */
export class BookFile {
  /** Between two cells. */
  readonly separator: ',' | ';';
  /** The header's names, trimmed; {@link BOOK_COLUMNS} in small letters. Empty before the header. */
  columns: readonly string[] = [];
  /** The first is the header. */
  readonly records: BookRecord[] = [];
  /** Of each device the first record, which counts. */
  readonly devices = new Map<string, DeviceRow>();
  /** The devices of each group, in the order of the file. */
  readonly groups = new Map<string, string[]>();
  /** At most {@link MAX_PROBLEMS}. */
  readonly problems: BookProblem[] = [];
  /** Rows that are left out. */
  badRows = 0;
  #end = 0;
  /** The line of the record that is added; between two records, the line behind the first. */
  #line = 1;
  #isFull = false;
  readonly #known = new Map<string, string[] | string>();

  constructor(readonly bytes: Buffer) {
    this.separator = separatorOf(bytes);
  }

  /** Between two groups of a cell. */
  get groupSeparator(): ';' | '|' {
    return this.separator === ';' ? '|' : ';';
  }

  /** Where the next record begins, behind empty lines, and on which line. */
  get next(): { start: number; line: number } {
    const { bytes } = this;
    let start = this.#end;
    while (bytes[start] === LF || bytes[start] === CR) start++;
    return { start, line: this.#line + this.#lines(this.#end, start) };
  }

  /** @param end where the record ends in the bytes @throws DeviceCloudError `INVALID_INPUT` if it is no header */
  add(cells: readonly string[], end: number): void {
    const { columns } = this;
    const { start, line } = this.next;
    this.#line = line;
    let row: BookRecord['row'];
    if (columns.length === 0) this.columns = readHeader(cells, this.separator);
    else row = this.#whyTorn(cells, start, end) ?? readRow(cells, columns, this.#groupsOf);
    const record = { start, end, line, row };
    this.records.push(record);
    if (typeof row === 'object') this.#index(record as DeviceRow);
    else if (row !== undefined) this.#leaveOut(row);
    this.#line += this.#lines(start, end);
    this.#end = end;
  }

  /** Many devices have the same groups. */
  readonly #groupsOf = (cell: string): string[] | string => {
    const groups = this.#known.get(cell) ?? readGroups(cell, this.groupSeparator);
    this.#known.set(cell, groups);
    return groups;
  };

  #index(record: DeviceRow): void {
    const { chipid, groups } = record.row;
    const first = this.devices.get(chipid);
    if (first)
      this.#leaveOut(
        `is another row of device ${chipid}, whose first one counts: line ${first.line}`,
      );
    else if (this.devices.size >= BOOK_LIMITS.rows) {
      this.#leaveOut(
        `is the first that has no place: a device book holds at most ${BOOK_LIMITS.rows} devices`,
      );
      this.#isFull = true;
    } else {
      this.devices.set(chipid, record);
      for (const group of groups) {
        const members = this.groups.get(group);
        if (members) members.push(chipid);
        else this.groups.set(group, [chipid]);
      }
    }
  }

  #leaveOut(reason: string): void {
    this.badRows++;
    if (this.problems.length < MAX_PROBLEMS && !this.#isFull)
      this.problems.push({ line: this.#line, reason });
  }

  #lines(from: number, to: number): number {
    const { bytes } = this;
    let lines = 0;
    for (let at = from; at < to; at++)
      if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) lines++;
    return lines;
  }

  /**
   * What is wrong with a record whose cell begins with a quotation mark that nobody has closed: the lines behind it, up to the
   * next quotation mark of the file, have become part of that cell.
   */
  #whyTorn(cells: readonly string[], start: number, end: number): string | undefined {
    if (!cells.some((cell) => cell.startsWith('"') && /[\r\n]/.test(cell))) return undefined;
    try {
      // A cell may well begin with one, written twice.
      const text = this.bytes.toString('utf8', start, end);
      parse(text, { ...CSV, delimiter: this.separator, relax_quotes: false });
      return undefined;
    } catch {
      return 'has a quotation mark that is not closed: the lines behind it are lost, too';
    }
  }
}

/**
 * The row of some cells. Faults are returned, not thrown: a stack trace for each row of a large file takes seconds.
 * @returns the row, or its fault; undefined if all cells are empty
 */
function readRow(
  cells: readonly string[],
  columns: readonly string[],
  groupsOf: (cell: string) => string[] | string,
): BookRow | string | undefined {
  if (cells.every((cell) => cell.trim() === '')) return undefined;
  const { length } = columns;
  if (cells.slice(length).some((cell) => cell.trim() !== ''))
    return `has ${cells.length} cells, and the header only ${length}: a cell with a separator in it needs quotation marks`;
  const row: BookRow = { chipid: '', groups: [] };
  for (const [index, column] of columns.entries()) {
    const fault = setCell(row, column, cellText(cells[index] ?? ''), groupsOf);
    if (fault !== undefined) return fault;
  }
  return row;
}

/** @returns the fault of the cell, if it has one */
function setCell(
  row: BookRow,
  column: string,
  text: string,
  groupsOf: (cell: string) => string[] | string,
): string | undefined {
  const trimmed = text.trim();
  switch (column) {
    case 'chipid':
      return setChipid(row, trimmed);
    case 'groups': {
      const groups = groupsOf(text);
      if (typeof groups === 'string') return groups;
      row.groups = groups;
      break;
    }
    case 'name':
    case 'type':
      if (trimmed.length > BOOK_LIMITS.text) return tooLong(column);
      if (trimmed !== '') row[column] = trimmed;
      break;
    case 'note':
      if (text !== '') row.note = text;
      break;
    // An empty name is a column that a spreadsheet has added.
    case '':
    case '__proto__':
      break;
    default:
      row[column] = text;
  }
  return undefined;
}

const tooLong = (what: string): string =>
  `has a ${what} of more than ${BOOK_LIMITS.text} characters`;

function setChipid(row: BookRow, text: string): string | undefined {
  if (text === '') return 'has no chip number';
  const chipid = chipidOf(text);
  if (chipid === undefined)
    return SCIENTIFIC.test(text)
      ? `has the chip number ${show(text)}: a spreadsheet has rounded it. Format the column chipid as text, and type the number again`
      : `has a chip number that must be an integer of 1 to 20 digits, but is ${show(text)}`;
  row.chipid = chipid;
  return undefined;
}

/** @returns the groups, or the fault of the cell */
function readGroups(cell: string, separator: string): string[] | string {
  const names = cell.split(separator).map((name) => name.trim());
  const groups = [...new Set(names.filter((name) => name !== ''))];
  if (groups.length > BOOK_LIMITS.groups)
    return `has ${groups.length} groups: at most ${BOOK_LIMITS.groups} are possible`;
  return groups.some(({ length }) => length > BOOK_LIMITS.text) ? tooLong('group') : groups;
}

export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/** Passes each record on at once: as a stream it would keep some, and `on_record` takes half as long again. */
class RecordParser extends Parser {
  readonly #onRecord: (cells: string[], end: number) => void;

  constructor(options: Options, onRecord: (cells: string[], end: number) => void) {
    super(options);
    this.#onRecord = onRecord;
  }

  override push(record: unknown): boolean {
    try {
      if (record !== null && !this.destroyed) this.#onRecord(record as string[], this.info.bytes);
    } catch (error) {
      this.destroy(error as Error);
    }
    return true;
  }
}

/** The bytes in pieces, so that the event loop turns while they are parsed. */
async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  const slices = new Slices();
  for (let from = 0; from < bytes.length; from += CHUNK) {
    if (slices.isOver) await slices.next();
    yield bytes.subarray(from, from + CHUNK);
  }
}

/**
 * Reads the bytes of a file, in slices of a few milliseconds.
 * @throws DeviceCloudError `INVALID_INPUT` if it is no device book
 */
export async function readBookFile(bytes: Buffer): Promise<BookFile> {
  if (!isText(bytes))
    throw invalidInput(
      'The device book must be text in UTF-8: in a spreadsheet, save it as "CSV UTF-8".',
    );
  const file = new BookFile(bytes);
  const options = { ...CSV, delimiter: file.separator };
  const parser = new RecordParser(options, (cells, end) => file.add(cells, end));
  try {
    await pipeline(piecesOf(bytes), parser);
  } catch (error) {
    if (isDeviceCloudError(error)) throw error;
    throw invalidInput(
      `The row that begins on line ${file.next.line} does not end within ${BOOK_LIMITS.row} characters: a quotation mark is not closed, ` +
        'or a cell is too long.',
    );
  }
  if (file.columns.length > 0) return file;
  throw invalidInput('The device book is empty: its first line must name its columns.');
}
