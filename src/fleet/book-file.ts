import { isUtf8 } from 'node:buffer';
import { invalidInput } from '../errors';
import { chipidOf } from '../protocol/values';
import { cellText, csvForm, csvRecords, type CsvForm } from '../util/csv';
import { show } from '../util/show';

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

/** What is read of a file, however it is made up. */
export const BOOK_LIMITS = {
  /** Bytes. */
  file: 16 * 2 ** 20,
  columns: 200,
  /** Of devices, and bad ones. */
  rows: 50_000,
  /** Groups of the book, and of a device. */
  allGroups: 10_000,
  groups: 100,
  /** Characters of a name, a group and a type. */
  text: 200,
  /** Bad rows that are named. */
  problems: 100,
} as const;

/** A row as it stands in the file. */
export interface BookRecord {
  readonly cells: readonly string[];
  /** The device whose row it is; undefined for the header, a bad row and an empty one. */
  readonly chipid: string | undefined;
}

/** Between two groups of a cell. */
export const groupSeparator = ({ separator }: CsvForm): ';' | '|' =>
  separator === ';' ? '|' : ';';

const isKnown = (name: string): name is BookColumn =>
  (BOOK_COLUMNS as readonly string[]).includes(name);

/** Columns that are not the user's. A spreadsheet may add some with an empty name. */
const NOT_OWN: ReadonlySet<string> = new Set(['', '__proto__', 'chipid']);

/** White space and characters without a width, which a number or the name of a column may bring along when it is copied. */
const AROUND = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;

/** @throws DeviceCloudError `INVALID_INPUT` */
function readHeader(cells: readonly string[], { separator }: CsvForm): string[] {
  const columns = cells.map((cell) => {
    const name = cellText(cell).replace(AROUND, '');
    return isKnown(name.toLowerCase()) ? name.toLowerCase() : name;
  });
  const names = columns.filter((name) => name !== '');
  if (names.length > BOOK_LIMITS.columns)
    throw invalidInput(
      `The device book has ${names.length} columns: at most ${BOOK_LIMITS.columns} are read.`,
    );
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined)
    throw invalidInput(`The device book has two columns ${show(twice)}: rename one of them.`);
  if (!names.includes('chipid'))
    throw invalidInput(
      'The first line of the device book must name its columns, one of which is chipid, but is ' +
        `${show(columns.join(separator))}.`,
    );
  return columns;
}

const SCIENTIFIC = /^\d+(?:[.,]\d+)?[eE]\+?\d+$/;

/** `="00012"`: so that a spreadsheet takes a number for text. */
const AS_TEXT = /^="(.*)"$/;

/** @returns the chip number, or what is wrong with it after an exclamation mark */
function readChipid(cell: string): { chipid: string } | string {
  const text = cell.replace(AROUND, '').replace(AS_TEXT, '$1');
  if (text === '') return 'has no chip number';
  const chipid = chipidOf(text);
  if (chipid !== undefined) return { chipid };
  return SCIENTIFIC.test(text)
    ? `has the chip number ${show(text)}: a spreadsheet has rounded it. Format the column chipid as text, and type the number again`
    : `has a chip number that must be an integer of 1 to 20 digits, but is ${show(text)}`;
}

const tooLong = (what: string): string =>
  `has a ${what} of more than ${BOOK_LIMITS.text} characters`;

/** @returns the groups, or what is wrong with them */
function readGroups(cell: string, separator: string): string[] | string {
  const names = cell.split(separator).map((name) => name.trim());
  const groups = [...new Set(names.filter((name) => name !== ''))];
  if (groups.length > BOOK_LIMITS.groups)
    return `has ${groups.length} groups: at most ${BOOK_LIMITS.groups} are possible`;
  return groups.some(({ length }) => length > BOOK_LIMITS.text) ? tooLong('group') : groups;
}

/** The devices of a file, whose rows are added one after the other. */
export class BookFile {
  /** The header's names, trimmed; {@link BOOK_COLUMNS} in small letters. */
  columns: readonly string[] = [];
  /** Of each device the first row, which counts. */
  readonly devices = new Map<string, BookRow>();
  /** The devices of each group, in the order of the file. */
  readonly groups = new Map<string, string[]>();
  /** The types that rows name. */
  readonly types = new Set<string>();
  /** At most {@link BOOK_LIMITS.problems}, and one for all rows that are not read. */
  readonly problems: BookProblem[] = [];
  /** Rows that are left out. */
  badRows = 0;
  /** What is read, but may not be meant. */
  readonly warnings: BookProblem[] = [];
  /** All rows, the header first; only if they were asked for. */
  readonly records: BookRecord[] = [];
  /** Why it cannot be written anew: something would be lost. */
  whyFixed: string | undefined;
  readonly #keepsRecords: boolean;
  /** By cell: many devices have the same groups. */
  readonly #groups = new Map<string, string[] | string>();
  #rows = 0;

  constructor(
    readonly form: CsvForm,
    keepsRecords: boolean,
  ) {
    this.#keepsRecords = keepsRecords;
  }

  /** @throws DeviceCloudError `INVALID_INPUT` @returns whether more rows are read */
  add(cells: readonly string[], line: number, isTorn: boolean): boolean {
    if (this.columns.length === 0) {
      this.columns = readHeader(cells, this.form);
      this.#keep(cells);
      return true;
    }
    const row = isTorn ? this.#torn(line) : this.#read(cells, line);
    if (row !== undefined && ++this.#rows > BOOK_LIMITS.rows) return this.#stop(line);
    if (typeof row === 'object') this.#index(row);
    else if (row !== undefined) this.#leaveOut(line, row);
    this.#keep(cells, typeof row === 'object' ? row.chipid : undefined);
    return true;
  }

  /** @returns the row of some cells, undefined if all are empty, or its fault: a stack trace for each row of a large file would take seconds */
  #read(cells: readonly string[], line: number): BookRow | string | undefined {
    if (cells.every((cell) => cell.trim() === '')) return undefined;
    const { length } = this.columns;
    if (cells.slice(length).some((cell) => cell.trim() !== ''))
      return `has ${cells.length} cells, and the header only ${length}: a cell with a separator in it needs quotation marks`;
    const at = this.columns.indexOf('chipid');
    const found = readChipid(cellText(cells[at] ?? ''));
    if (typeof found === 'string') return found;
    const row: BookRow = { chipid: found.chipid, groups: [] };
    for (const [index, cell] of cells.slice(0, length).entries()) {
      const column = this.columns[index] ?? '';
      const text = cellText(cell);
      const trimmed = text.trim();
      if (column === 'groups') {
        const groups = this.#groupsOf(text, line);
        if (typeof groups === 'string') return groups;
        row.groups = groups;
      } else if (column === 'name' || column === 'type') {
        if (trimmed.length > BOOK_LIMITS.text) return tooLong(column);
        if (trimmed !== '') row[column] = trimmed;
      } else if (column === 'note') {
        if (text !== '') row.note = text;
      } else if (!NOT_OWN.has(column)) row[column] = text;
    }
    return this.devices.has(row.chipid)
      ? `is another row of device ${row.chipid}, whose first one counts`
      : row;
  }

  #groupsOf(cell: string, line: number): string[] | string {
    const separator = groupSeparator(this.form);
    const groups = this.#groups.get(cell) ?? readGroups(cell, separator);
    this.#groups.set(cell, groups);
    if (typeof groups === 'string') return groups;
    const fresh = groups.filter((name) => !this.groups.has(name));
    if (this.groups.size + fresh.length > BOOK_LIMITS.allGroups)
      return `has the group ${show(fresh[0])}, which is one too many: a device book has at most ${BOOK_LIMITS.allGroups} groups`;
    const odd = fresh.find((name) => name.includes(','));
    if (odd !== undefined && this.warnings.length < BOOK_LIMITS.problems)
      this.warnings.push({
        line,
        reason: `has the group ${show(odd)}: in this file ${separator} stands between two groups, not a comma`,
      });
    return groups;
  }

  #index(row: BookRow): void {
    const { chipid, groups, type } = row;
    this.devices.set(chipid, row);
    if (type !== undefined) this.types.add(type);
    for (const group of groups) {
      const members = this.groups.get(group);
      if (members) members.push(chipid);
      else this.groups.set(group, [chipid]);
    }
  }

  #stop(line: number): false {
    const most = `${BOOK_LIMITS.rows} rows`;
    this.badRows++;
    const reason = `is left out, as are all behind it: of a device book at most ${most} are read`;
    this.problems.push({ line, reason });
    this.whyFixed = `it has more than ${most}, and what is not read would be lost`;
    return false;
  }

  #torn(line: number): string {
    const reason = 'has a quotation mark that is not closed: the lines behind it are lost, too';
    this.whyFixed ??= `line ${line} ${reason}`;
    return reason;
  }

  #leaveOut(line: number, reason: string): void {
    this.badRows++;
    if (this.problems.length < BOOK_LIMITS.problems) this.problems.push({ line, reason });
  }

  #keep(cells: readonly string[], chipid?: string): void {
    if (this.#keepsRecords) this.records.push({ cells, chipid });
  }
}

export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/**
 * Reads the bytes of a file, in slices of a few milliseconds.
 * @param keepsRecords whether all rows are kept as they stand in the file, to be written anew
 * @throws DeviceCloudError `INVALID_INPUT` if it is no device book
 */
export async function readBookFile(bytes: Buffer, keepsRecords = false): Promise<BookFile> {
  if (!isText(bytes))
    throw invalidInput(
      'The device book must be text in UTF-8: in a spreadsheet, save it as "CSV UTF-8".',
    );
  const form = csvForm(bytes);
  const file = new BookFile(form, keepsRecords);
  for await (const { cells, line, isTorn } of csvRecords(bytes, form))
    if (!file.add(cells, line, isTorn)) break;
  if (file.columns.length > 0) return file;
  throw invalidInput('The device book is empty: its first line must name its columns.');
}
