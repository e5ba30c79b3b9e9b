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
  type DeviceRow,
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

/** The byte order mark. */
const MARK = '\uFEFF';
const LINE_END = /(?:\r\n|\n|\r)$/;

/** A cell that white space or a line end would change is quoted, whatever ends the lines of the file. */
const QUOTED = /[\r\n]|^\s|\s$/;

const textIn = ({ bytes }: BookFile, { start, end }: BookRecord): string =>
  bytes.toString('utf8', start, end);

function cellsIn(file: BookFile, record: BookRecord): string[] {
  const [cells = []] = parse(textIn(file, record), { ...CSV, delimiter: file.separator });
  return cells.map(cellText);
}

/**
 * A file with some of its records replaced; the others stay as they are, byte by byte.
 * @param change the cells that a record is to have; null removes it, undefined leaves it
 * @param added called after the last record: the cells of further ones
 */
async function rewritten(
  file: BookFile,
  change: (record: BookRecord) => readonly string[] | null | undefined,
  added: () => readonly (readonly string[])[] = () => [],
): Promise<Buffer> {
  const { bytes, records, separator } = file;
  const slices = new Slices();
  const options = { delimiter: separator, eof: false, quoted_match: QUOTED };
  const line = (cells: readonly string[]): string => stringify([cells.map(writtenCell)], options);
  const endOf = (record: BookRecord | undefined): string =>
    record ? (LINE_END.exec(textIn(file, record))?.[0] ?? '') : '';
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const record of records) {
    if (slices.isOver) await slices.next();
    const cells = change(record);
    if (cells === undefined) continue;
    pieces.push(bytes.subarray(copied, record.start));
    copied = record.end;
    const mark = record.start === 0 && textIn(file, record).startsWith(MARK) ? MARK : '';
    if (cells) pieces.push(Buffer.from(mark + line(cells) + endOf(record)));
  }
  pieces.push(bytes.subarray(copied));
  const lineEnd = endOf(records[0]) || '\n';
  const further = added();
  if (further.length > 0 && endOf(records.at(-1)) === '') pieces.push(Buffer.from(lineEnd));
  for (const cells of further) {
    if (slices.isOver) await slices.next();
    pieces.push(Buffer.from(line(cells) + lineEnd));
  }
  return Buffer.concat(pieces);
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
  const { rows, gone } = readEdit(edit, file.groupSeparator);
  const columns = [...file.columns];
  for (const cells of rows.values()) {
    for (const [column, text] of Object.entries(cells))
      if (text !== '' && !columns.includes(column)) columns.push(column);
  }
  /** Columns that the file does not have. */
  const fresh = columns.slice(file.columns.length);
  const changed = (old: readonly string[], by: Cells): string[] => {
    const cells = columns.map(
      (column, at) => (Object.hasOwn(by, column) ? by[column as BookColumn] : old[at]) ?? '',
    );
    // A row that was shorter than the header stays so.
    while (cells.length > old.length && cells.at(-1) === '') cells.pop();
    return cells;
  };
  const change = (record: BookRecord): readonly string[] | null | undefined => {
    const { row, start } = record;
    if (start === file.records[0]?.start)
      return fresh.length > 0 ? [...cellsIn(file, record), ...fresh] : undefined;
    if (typeof row === 'string' && fresh.length > 0) {
      // The cells that it has too many would be in the new column.
      if (cellsIn(file, record).length > file.columns.length)
        throw invalidInput(
          `The device book has no column ${fresh.at(-1)}, and a row with more cells than columns: repair that before a column is added.`,
        );
    }
    if (typeof row !== 'object') return undefined;
    // The first row of a device counts, also if the book is full and lacks the device.
    const { chipid } = row;
    const cells = rows.get(chipid);
    rows.delete(chipid);
    const isGone = gone.delete(chipid);
    if (cells) return changed(cellsIn(file, record), cells);
    return isGone ? null : undefined;
  };
  const blank = columns.map(() => '');
  const added = (): string[][] =>
    [...rows].map(([chipid, cells]) => changed(blank, { ...cells, chipid }));
  return rewritten(file, change, added);
}

/** A character that begins a formula, at the beginning of a cell, quoted or not. */
const MAY_BE_FORMULA = /(?:^|[,;"'])[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** The bytes of a file in which no spreadsheet finds a formula: the text of each cell is the same. */
export const disarmedBytes = (file: BookFile): Promise<Buffer> =>
  rewritten(file, (record) => {
    // Most rows have no cell that may be one.
    if (!MAY_BE_FORMULA.test(textIn(file, record).replace(LINE_END, ''))) return undefined;
    const cells = cellsIn(file, record);
    return cells.some((cell) => writtenCell(cell) !== cell) ? cells : undefined;
  });

const valueText = (row: BookRow, column: string): string => {
  const value = row[column] ?? '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** The columns in which two rows differ; a column that one of them does not have is empty there. */
const differing = (one: BookRow, other: BookRow): string[] =>
  Object.keys({ ...one, ...other }).filter(
    (column) => valueText(one, column) !== valueText(other, column),
  );

/** Compares two contents of the book. */
export async function difference(
  before: BookFile | undefined,
  after: BookFile,
): Promise<BookDifference> {
  const old = before?.devices ?? new Map<string, DeviceRow>();
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
