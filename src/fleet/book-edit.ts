import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { invalidInput } from '../errors';
import { parseChipid } from '../input/chipid';
import { isObject } from '../util/object';
import { show } from '../util/show';
import { Slices } from '../util/slices';
import {
  BOOK_LIMITS,
  CSV,
  cellText,
  writtenCell,
  type BookColumn,
  type BookFile,
  type BookRecord,
  type BookRow,
} from './book-csv';

/** What a new content of the book would change, as chip numbers. */
export interface BookDifference {
  added: string[];
  changed: string[];
  /** Of each device that changes, the columns. */
  columns: string[][];
  gone: string[];
  /** The names of the first 100 of each, for those that have one. */
  names: Record<string, string>;
}

/** Devices of each kind whose names are in a difference. */
const NAMED = 100;

/** The first line of a book that does not exist yet. */
export const EMPTY_BOOK = 'chipid,name,groups,type,note\n';

const LINE_END = /(?:\r\n|\n|\r)$/;

/** A cell that white space or a line end would change is quoted, whatever ends the lines of the file. */
const QUOTED = /[\r\n]|^\s|\s$/;

/** Pieces of a file, with some of its records replaced; the others stay as they are, byte by byte. */
class Rewrite {
  readonly #file: BookFile;
  readonly #pieces: Buffer[] = [];
  #copied = 0;

  constructor(file: BookFile) {
    this.#file = file;
  }

  /** The text of a record, and what ends it. */
  read({ start, end }: BookRecord): { cells: string[]; end: string } {
    const { bytes, separator } = this.#file;
    const text = bytes.toString('utf8', start, end);
    const [cells = []] = parse(text, { ...CSV, delimiter: separator });
    return { cells: cells.map(cellText), end: LINE_END.exec(text)?.[0] ?? '' };
  }

  /** Replaces a record, or removes it. They come in the order of the file. */
  replace(record: BookRecord, cells: readonly string[] | undefined): void {
    const { bytes } = this.#file;
    this.#pieces.push(bytes.subarray(this.#copied, record.start));
    this.#copied = record.end;
    if (!cells) return;
    const mark = record.start === 0 && bytes.toString('utf8', 0, 3) === '\uFEFF' ? '\uFEFF' : '';
    this.#pieces.push(Buffer.from(`${mark}${this.#line(cells)}${this.read(record).end}`));
  }

  /** The file, with further records at its end. */
  async end(added: readonly (readonly string[])[], slices: Slices): Promise<Buffer> {
    const { bytes, records } = this.#file;
    this.#pieces.push(bytes.subarray(this.#copied));
    if (added.length === 0) return Buffer.concat(this.#pieces);
    const lineEnd = this.read(records[0] as BookRecord).end || '\n';
    const lines: string[] = [];
    for (const cells of added) {
      if (slices.isOver) await slices.next();
      lines.push(this.#line(cells) + lineEnd);
    }
    if (!LINE_END.test(bytes.toString('latin1', bytes.length - 1))) lines.unshift(lineEnd);
    return Buffer.concat([...this.#pieces, Buffer.from(lines.join(''))]);
  }

  #line(cells: readonly string[]): string {
    const { separator } = this.#file;
    const options = { delimiter: separator, eof: false, quoted_match: QUOTED };
    return stringify([cells.map(writtenCell)], options);
  }
}

function textOf(
  row: Record<string, unknown>,
  column: 'name' | 'type' | 'note',
): string | undefined {
  const value = row[column];
  const longest = column === 'note' ? 10_000 : BOOK_LIMITS.text;
  if (value === undefined || (typeof value === 'string' && value.length <= longest)) return value;
  throw invalidInput(`The ${column} of a device must be text of at most ${longest} characters.`);
}

function groupsOf({ groups }: Record<string, unknown>, separator: string): string | undefined {
  if (groups === undefined) return undefined;
  if (!Array.isArray(groups) || groups.length > BOOK_LIMITS.groups)
    throw invalidInput(
      `The groups of a device must be an array of at most ${BOOK_LIMITS.groups} names.`,
    );
  for (const group of groups as unknown[]) {
    if (typeof group !== 'string' || group.length > BOOK_LIMITS.text)
      throw invalidInput(`A group must be text of at most ${BOOK_LIMITS.text} characters.`);
    if (group.includes(separator))
      throw invalidInput(
        `A group must not contain ${separator}, which stands between groups in the file, but is ${show(group)}.`,
      );
  }
  return groups.join(separator);
}

type Cells = Partial<Record<BookColumn, string>>;

/** Reads what an editor has sent. @throws DeviceCloudError `INVALID_INPUT` */
function readEdit(
  edit: unknown,
  separator: string,
): { rows: Map<string, Cells>; gone: Set<string> } {
  const { rows = [], remove = [] } = isObject(edit) ? edit : { rows: null };
  if (!Array.isArray(rows) || !Array.isArray(remove))
    throw invalidInput('Send {"rows": [{"chipid": "7", "name": "Gate"}], "remove": ["8"]}.');
  const changes = new Map<string, Cells>();
  for (const row of rows as unknown[]) {
    if (!isObject(row)) throw invalidInput('A row must be an object with a chipid.');
    const groups = groupsOf(row, separator);
    const [name, type, note] = [textOf(row, 'name'), textOf(row, 'type'), textOf(row, 'note')];
    const cells = { name: name?.trim(), groups, type: type?.trim(), note };
    const given = Object.entries(cells).filter(([, text]) => text !== undefined);
    changes.set(parseChipid(row['chipid']), Object.fromEntries(given));
  }
  return { rows: changes, gone: new Set(remove.map(parseChipid)) };
}

/**
 * The bytes of a file with some of its rows changed. Columns, order, separators and rows that are not concerned stay as they
 * are.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export async function editedBytes(file: BookFile, edit: unknown): Promise<Buffer> {
  const slices = new Slices();
  const { rows, gone } = readEdit(edit, file.groupSeparator);
  const columns = [...file.columns];
  for (const cells of rows.values()) {
    for (const [column, text] of Object.entries(cells))
      if (text !== '' && !columns.includes(column)) columns.push(column);
  }
  const rewrite = new Rewrite(file);
  const [header, ...records] = file.records;
  if (header && columns.length > file.columns.length) {
    // The cells that a row has too many would be in the new column.
    for (const record of records) {
      if (slices.isOver) await slices.next();
      if (typeof record.row !== 'string') continue;
      if (rewrite.read(record).cells.length > file.columns.length)
        throw invalidInput(
          `The device book has no column ${columns.at(-1)}, and a row with more cells than columns: repair that before a column is added.`,
        );
    }
    const { cells } = rewrite.read(header);
    while (cells.length < file.columns.length) cells.push('');
    rewrite.replace(header, [...cells, ...columns.slice(file.columns.length)]);
  }
  const cellsOf = (old: readonly string[], change: Cells): string[] => {
    const cells = columns.map(
      (column, at) =>
        (Object.hasOwn(change, column) ? change[column as BookColumn] : old[at]) ?? '',
    );
    // A row that was shorter than the header stays so.
    while (cells.length > old.length && cells.at(-1) === '') cells.pop();
    return cells;
  };
  const touched = [...new Set([...gone, ...rows.keys()])].flatMap(
    (chipid) => file.devices.get(chipid) ?? [],
  );
  for (const record of touched.sort((one, other) => one.start - other.start)) {
    if (slices.isOver) await slices.next();
    const change = rows.get(record.row.chipid);
    rewrite.replace(record, change && cellsOf(rewrite.read(record).cells, change));
  }
  const blank = columns.map(() => '');
  const added = [...rows].filter(([chipid]) => !file.devices.has(chipid));
  return rewrite.end(
    added.map(([chipid, cells]) => cellsOf(blank, { ...cells, chipid })),
    slices,
  );
}

/** A character that begins a formula, at the beginning of a cell, quoted or not. */
const MAY_BE_FORMULA = /(?:^|[,;"'])[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** The bytes of a file in which no spreadsheet finds a formula: the text of each cell is the same. */
export async function disarmedBytes(file: BookFile): Promise<Buffer> {
  const slices = new Slices();
  const rewrite = new Rewrite(file);
  for (const record of file.records) {
    if (slices.isOver) await slices.next();
    const text = file.bytes.toString('utf8', record.start, record.end);
    // Most rows have no cell that may be one.
    if (!MAY_BE_FORMULA.test(text.replace(LINE_END, ''))) continue;
    const { cells } = rewrite.read(record);
    if (cells.some((cell) => writtenCell(cell) !== cell)) rewrite.replace(record, cells);
  }
  return rewrite.end([], slices);
}

const textIn = (row: BookRow, column: string): string => {
  const value = row[column] ?? '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** The columns in which two rows differ; a column that one of them does not have is empty there. */
const differing = (one: BookRow, other: BookRow): string[] =>
  Object.keys({ ...one, ...other }).filter(
    (column) => textIn(one, column) !== textIn(other, column),
  );

/** Compares two contents of the book. */
export async function difference(
  before: BookFile | undefined,
  after: BookFile,
): Promise<BookDifference> {
  const old: BookFile['devices'] = before?.devices ?? new Map();
  const now = after.devices;
  const slices = new Slices();
  const [added, changed, columns]: [string[], string[], string[][]] = [[], [], []];
  for (const [chipid, { row }] of now) {
    if (slices.isOver) await slices.next();
    const earlier = old.get(chipid);
    const which = earlier && differing(earlier.row, row);
    if (!which) added.push(chipid);
    else if (which.length > 0) {
      changed.push(chipid);
      columns.push(which);
    }
  }
  const gone = [...old.keys()].filter((chipid) => !now.has(chipid));
  const names: Record<string, string> = {};
  for (const chipid of [added, changed, gone].flatMap((list) => list.slice(0, NAMED))) {
    const name = (now.get(chipid) ?? old.get(chipid))?.row.name;
    if (name !== undefined) names[chipid] = name;
  }
  return { added, changed, columns, gone, names };
}
