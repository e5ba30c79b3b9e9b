import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { parse as parseStream } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { invalidInput } from '../errors';
import { Slices } from './slices';

/** How a CSV file is written. */
export interface CsvForm {
  readonly separator: ',' | ';' | '\t';
  readonly lineEnd: string;
  /** What stands before the header: a byte order mark, and a line such as `sep=;`, from which a spreadsheet reads the separator. */
  readonly before: string;
}

/** A record of a file: what a spreadsheet shows as a row. */
export interface CsvRecord {
  /** On which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Whether one of its quotation marks is not closed, so that the lines behind it, up to the next quotation mark, are in its cell. */
  readonly isTorn: boolean;
}

/** Characters of a record. */
const LONGEST_RECORD = 65_536;

/** Bytes that are parsed at once. */
const CHUNK = 4096;

/** What a spreadsheet or a person may have written is no reason to refuse a file. */
const OPTIONS = {
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_quotes: true,
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: LONGEST_RECORD,
};

const LF = 10;
const CR = 13;
const BEFORE = /^\uFEFF?(?:"?sep=([,;\t])"?(?:\r\n|\n|\r))?/i;

/** The separator that the header has most often. */
function separatorOf(text: string): CsvForm['separator'] {
  const [header = ''] = text.replace(/"[^"]*"/g, '').split(/[\r\n]/, 1);
  const count = (separator: string): number => header.split(separator).length;
  return ([',', ';', '\t'] as const).reduce((best, each) =>
    count(each) > count(best) ? each : best,
  );
}

/** Finds out how a file is written. */
export function csvForm(bytes: Buffer): CsvForm {
  const text = bytes.toString('utf8', 0, LONGEST_RECORD);
  const [before = '', named] = BEFORE.exec(text) ?? [];
  const [lineEnd = '\n'] = /\r\n|\n|\r/.exec(text) ?? [];
  const separator = (named as CsvForm['separator'] | undefined) ?? separatorOf(text);
  return { separator, lineEnd, before };
}

function linesIn(bytes: Buffer, from: number, to: number): number {
  let lines = 0;
  for (let at = from; at < to; at++)
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) lines++;
  return lines;
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += CHUNK) yield bytes.subarray(from, from + CHUNK);
}

/** The quotation mark with which a cell begins may have been written twice: then the record is read strictly, too. */
function isTorn(cells: readonly string[], record: Buffer, delimiter: string): boolean {
  if (!cells.some((cell) => cell.startsWith('"') && /[\r\n]/.test(cell))) return false;
  try {
    parse(record, { ...OPTIONS, delimiter, relax_quotes: false });
    return false;
  } catch {
    return true;
  }
}

/**
 * Reads the records of a file, in slices of a few milliseconds. Empty lines are no records.
 * @throws DeviceCloudError `INVALID_INPUT` if a record does not end: a quotation mark is not closed, or a cell is too long
 */
export async function* csvRecords(
  bytes: Buffer,
  { separator: delimiter, before }: CsvForm = csvForm(bytes),
): AsyncGenerator<CsvRecord> {
  const slices = new Slices();
  const start = Buffer.byteLength(before);
  /** Where the record that begins behind a place does so, since empty lines belong to none. */
  const nextRecord = (end: number): number => {
    let at = end;
    while (bytes[at] === LF || bytes[at] === CR) at++;
    return at;
  };
  const lines = { counted: 0, number: 1 };
  const lineAt = (place: number): number => {
    lines.number += linesIn(bytes, lines.counted, place);
    lines.counted = place;
    return lines.number;
  };
  const parser = Readable.from(piecesOf(bytes.subarray(start))).pipe(
    parseStream({ ...OPTIONS, info: true, delimiter }),
  );
  try {
    let end = start;
    for await (const parsed of parser) {
      if (slices.isOver) await slices.next();
      const { record: cells, info } = parsed as { record: string[]; info: { bytes: number } };
      const begin = nextRecord(end);
      end = start + info.bytes;
      const record = bytes.subarray(begin, end);
      yield { line: lineAt(begin), cells, isTorn: isTorn(cells, record, delimiter) };
    }
  } catch (error) {
    const { code, bytes_records: end = 0 } = error as { code?: unknown; bytes_records?: number };
    if (!String(code).startsWith('CSV_')) throw error;
    const line = 1 + linesIn(bytes, 0, nextRecord(start + end));
    throw invalidInput(
      `The row that begins on line ${line} does not end within ${LONGEST_RECORD} characters: a quotation mark is not closed, or a cell is too long.`,
    );
  }
}

/** The name of a column as it is looked for. */
export const columnName = (cell: string): string => cell.trim().toLowerCase();

/** A row of a file that is read as a whole. */
export interface CsvRow {
  /** The line on which it ends, from 1. */
  readonly line: number;
  /** As they are; fewer than there are columns if the row is short. */
  readonly cells: readonly string[];
}

const isBlank = (cell: string): boolean => cell.trim() === '';

/**
 * Reads a file as a whole, without rows of which all cells are blank. The first row names the columns, see {@link columnName}.
 * @throws Error with a sentence that says what is malformed
 */
export function readCsv(bytes: Buffer): { columns: string[]; rows: CsvRow[] } {
  if (!isUtf8(bytes)) throw new Error('It must be UTF-8 text.');
  const { separator: delimiter, before } = csvForm(bytes);
  const start = Buffer.byteLength(before);
  const skipped = linesIn(bytes, 0, start);
  const all: CsvRow[] = [];
  parse(bytes.subarray(start), {
    ...OPTIONS,
    delimiter,
    max_record_size: 0,
    on_record: (cells: string[], { lines }) => void all.push({ line: skipped + lines, cells }),
  });
  const [header, ...rows] = all.filter(({ cells }) => !cells.every(isBlank));
  const columns = (header?.cells ?? []).map(columnName);
  const long = rows.find(({ cells }) => !cells.slice(columns.length).every(isBlank));
  if (long)
    throw new Error(
      `Line ${long.line} has ${long.cells.length} cells, and the header only ${columns.length}: a cell with a separator in ` +
        'it needs quotation marks.',
    );
  return { columns, rows };
}

/** Writes records as a file. */
export async function writeCsv(
  { separator, lineEnd, before }: CsvForm,
  records: Iterable<readonly string[]>,
): Promise<Buffer> {
  const slices = new Slices();
  // White space at an end is kept by quotation marks, whatever reads the file.
  const needsQuotes = new RegExp(`[${separator}"\r\n]|^\\s|\\s$`);
  const write = (cell: string): string =>
    needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const lines: string[] = [];
  for (const cells of records) {
    if (slices.isOver) await slices.next();
    // An empty line would be no record.
    lines.push((cells.map(write).join(separator) || '""') + lineEnd);
  }
  return Buffer.from(before + lines.join(''));
}

/** What begins a formula in a spreadsheet, also behind the apostrophe that disarms it. */
const FORMULA = /^'*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;
const NUMBER = /^[+-]\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?$/;
const isFormula = (text: string): boolean => FORMULA.test(text) && !NUMBER.test(text);

/** A spreadsheet that takes another separator for the file's divides a cell there. */
const eachPart = (cell: string, change: (part: string) => string): string =>
  /[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(cell) ? cell.replace(/[^,;\t\r\n]+/g, change) : cell;

/** A text as a cell in which no spreadsheet finds a formula: `=1+1` is written as `'=1+1`. */
export const disarmedCell = (text: string): string =>
  eachPart(text, (part) => (isFormula(part) ? `'${part}` : part));

/** The text of a cell: the reverse of {@link disarmedCell}. */
export const cellText = (cell: string): string =>
  eachPart(cell, (part) =>
    part.startsWith("'") && isFormula(part.slice(1)) ? part.slice(1) : part,
  );
