import { invalidInput } from '../errors';
import { parseChipid } from '../protocol/values';
import { cellText, disarmedCell, writeCsv } from '../util/csv';
import { isObject } from '../util/json';
import { show } from '../util/show';
import { Slices } from '../util/slices';
import {
  BOOK_LIMITS,
  groupSeparator,
  type BookColumn,
  type BookFile,
  type BookRecord,
  type BookRow,
} from './book-file';

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

/** The rows of a file that is written anew. @throws DeviceCloudError `INVALID_INPUT` if some of it would be lost */
function recordsOf({ records, whyFixed }: BookFile): readonly BookRecord[] {
  if (whyFixed === undefined) return records;
  throw invalidInput(`The device book cannot be written: ${whyFixed}. Repair it in a spreadsheet.`);
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

/** The new texts of a row. */
type Texts = Partial<Record<BookColumn, string>>;

/** Reads what an editor has sent. @throws DeviceCloudError `INVALID_INPUT` */
function readEdit(
  edit: unknown,
  separator: string,
): { rows: Map<string, Texts>; gone: Set<string> } {
  const { rows = [], remove = [] } = isObject(edit) ? edit : { rows: null };
  if (!Array.isArray(rows) || !Array.isArray(remove))
    throw invalidInput('Send {"rows": [{"chipid": "7", "name": "Gate"}], "remove": ["8"]}.');
  const changes = new Map<string, Texts>();
  for (const row of rows as unknown[]) {
    if (!isObject(row)) throw invalidInput('A row must be an object with a chipid.');
    const groups = groupsOf(row, separator);
    const name = textOf(row, 'name');
    const type = textOf(row, 'type');
    const note = textOf(row, 'note');
    const texts = { name: name?.trim(), groups, type: type?.trim(), note };
    const given = Object.entries(texts).filter(([, text]) => text !== undefined);
    changes.set(parseChipid(row['chipid']), Object.fromEntries(given));
  }
  return { rows: changes, gone: new Set(remove.map(parseChipid)) };
}

/** The cells of a row with some texts changed. */
function changedCells(
  columns: readonly string[],
  cells: readonly string[],
  texts: Texts,
): readonly string[] {
  const changed = columns.map((column, at) => {
    const text = Object.hasOwn(texts, column) ? texts[column as BookColumn] : undefined;
    return text === undefined ? (cells[at] ?? '') : disarmedCell(text);
  });
  // A row that was shorter than the header stays so.
  while (changed.length > cells.length && changed.at(-1) === '') changed.pop();
  return [...changed, ...cells.slice(changed.length)];
}

/**
 * The bytes of a file with some of its rows changed: all others, and all columns, stay in their order.
 * @param file with its records
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export async function editedBytes(file: BookFile, edit: unknown): Promise<Buffer> {
  const { rows, gone } = readEdit(edit, groupSeparator(file.form));
  const [header, ...records] = recordsOf(file);
  const columns = [...file.columns];
  for (const texts of rows.values()) {
    for (const [column, text] of Object.entries(texts))
      if (text !== '' && !columns.includes(column)) columns.push(column);
  }
  const fresh = columns.slice(file.columns.length);
  const hasFurther = ({ cells }: BookRecord): boolean =>
    cells.slice(file.columns.length).some((cell) => cell.trim() !== '');
  if (fresh.length > 0 && records.some(hasFurther))
    throw invalidInput(
      `The device book has no column ${fresh.at(-1)}, and a row with more cells than columns: repair that before a column is added.`,
    );
  const written = [[...(header?.cells ?? []), ...fresh]] as (readonly string[])[];
  for (const { cells, chipid = '' } of records) {
    const texts = rows.get(chipid);
    rows.delete(chipid);
    if (texts) written.push(changedCells(columns, cells, texts));
    else if (!gone.has(chipid)) written.push(cells);
  }
  for (const [chipid, texts] of rows) written.push(changedCells(columns, [], { ...texts, chipid }));
  return writeCsv(file.form, written);
}

/** The bytes of a file in which no spreadsheet finds a formula: the text of each cell is the same. @param file with its records */
export async function disarmedBytes(file: BookFile): Promise<Buffer> {
  const disarmed = function* (): Generator<string[]> {
    for (const { cells } of recordsOf(file))
      yield cells.map((cell) => disarmedCell(cellText(cell)));
  };
  return writeCsv(file.form, disarmed());
}

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
  const old = before?.devices ?? new Map<string, BookRow>();
  const now = after.devices;
  const slices = new Slices();
  const [added, changed, columns]: [string[], string[], string[][]] = [[], [], []];
  for (const [chipid, row] of now) {
    if (slices.isOver) await slices.next();
    const earlier = old.get(chipid);
    const which = earlier && differing(earlier, row);
    if (!which) added.push(chipid);
    else if (which.length > 0) {
      changed.push(chipid);
      columns.push(which);
    }
  }
  const gone = [...old.keys()].filter((chipid) => !now.has(chipid));
  const names: Record<string, string> = {};
  for (const chipid of [added, changed, gone].flatMap((list) => list.slice(0, NAMED))) {
    const name = (now.get(chipid) ?? old.get(chipid))?.name;
    if (name !== undefined) names[chipid] = name;
  }
  return { added, changed, columns, gone, names };
}
