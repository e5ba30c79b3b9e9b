import { isUtf8 } from 'node:buffer';
import { parse } from 'csv-parse/sync';

const SEPARATORS = [',', ';', '\t'] as const;
/** Between two cells. */
export type Separator = (typeof SEPARATORS)[number];

/** Bytes in which the header ends. */
const HEADER = 65_536;
/** A first line such as `sep=;`, which tells a spreadsheet the separator. */
const NAMED = /^(?:\u00EF\u00BB\u00BF)?"?sep=([,;\t])"?(?:\r\n?|\n)/i;

/** The separator that the first line names, otherwise the one that is most often in the header. */
function separatorOf(bytes: Buffer): { separator: Separator; isNamed: boolean } {
  const head = bytes.toString('latin1', 0, HEADER);
  const named = NAMED.exec(head)?.[1];
  const [header = ''] = head.replaceAll(/"[^"]*"/g, '').split(/[\r\n]/, 1);
  const count = (separator: string): number => header.split(separator).length;
  const most = Math.max(...SEPARATORS.map(count));
  const separator = SEPARATORS.find((each) => (named ? each === named : count(each) === most));
  return { separator: separator ?? ',', isNamed: named !== undefined };
}

/**
 * Options of csv-parse for a file that a person or a spreadsheet has written: with or without a byte order mark, any line
 * end, any separator, rows of different lengths, quotation marks inside a cell.
 */
export function csvOptions(bytes: Buffer) {
  const { separator, isNamed } = separatorOf(bytes);
  return {
    bom: true,
    delimiter: separator,
    from_line: isNamed ? 2 : 1,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
  };
}

/** The name of a column as it is looked for. */
export const columnName = (cell: string): string => cell.trim().toLowerCase();

/** A row of a CSV file. */
export interface CsvRow {
  /** The line on which it ends, from 1. */
  readonly line: number;
  /** As they are; fewer than there are columns if the row is short. */
  readonly cells: readonly string[];
}

/**
 * Reads a CSV file as a whole, without rows of which all cells are blank. The first row names the columns, see
 * {@link columnName}.
 * @throws Error with a sentence that says what is malformed
 */
export function readCsv(bytes: Buffer): { columns: string[]; rows: CsvRow[] } {
  if (!isUtf8(bytes)) throw new Error('It must be UTF-8 text.');
  const all: CsvRow[] = [];
  parse(bytes, {
    ...csvOptions(bytes),
    on_record: (cells: string[], { lines }) => void all.push({ line: lines, cells }),
  });
  const [header, ...rows] = all.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
  const columns = (header?.cells ?? []).map(columnName);
  const long = rows.find(({ cells }) =>
    cells.slice(columns.length).some((cell) => cell.trim() !== ''),
  );
  if (long)
    throw new Error(
      `Line ${long.line} has ${long.cells.length} cells, and the header only ${columns.length}: a cell with a separator in ` +
        'it needs quotation marks.',
    );
  return { columns, rows };
}
