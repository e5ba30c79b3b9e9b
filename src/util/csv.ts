/** A record of a text in CSV. */
export interface CsvRecord {
  cells: string[];
  /** Where it ends, line end included. */
  end: number;
  /**
   * Whether a cell begins with a quotation mark that nobody has closed: the lines behind it, up to the next quotation mark of
   * the text, have become part of that cell.
   */
  isTorn: boolean;
}

const PLAIN = { ',': /[^,\r\n]*/y, ';': /[^;\r\n]*/y };
export type CsvSeparator = keyof typeof PLAIN;

/**
 * Reads a record of a text (RFC 4180). A quotation mark within a cell that does not begin with one is text, as is one that
 * begins a cell and is followed, where it should end, by more of it.
 * @param start where the record begins
 * @returns undefined if its last cell has no closing quotation mark
 */
export function readCsvRecord(
  text: string,
  start: number,
  separator: CsvSeparator,
): CsvRecord | undefined {
  const cells: string[] = [];
  let isTorn = false;
  const plainEnd = (from: number): number => {
    const plain = PLAIN[separator];
    plain.lastIndex = from;
    plain.test(text);
    return plain.lastIndex;
  };
  for (let at = start; ; at++) {
    let end = at;
    if (text[at] === '"') {
      end = text.indexOf('"', at + 1);
      while (end > 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
      if (end < 0) return undefined;
    }
    if (end > at && plainEnd(end + 1) === end + 1) {
      cells.push(text.slice(at + 1, end).replaceAll('""', '"'));
      end++;
    } else {
      isTorn ||= /[\r\n]/.test(text.slice(at, end));
      end = plainEnd(end);
      cells.push(text.slice(at, end));
    }
    at = end;
    if (text[at] === separator) continue;
    const isPair = text.startsWith('\r\n', at);
    return { cells, end: Math.min(at + (isPair ? 2 : 1), text.length), isTorn };
  }
}

/** Quoted if need be: also if white space at its ends, or a line end of another kind, would be lost. */
export const csvCell = (text: string, separator: CsvSeparator): string =>
  /["\r\n]|^\s|\s$/.test(text) || text.includes(separator)
    ? `"${text.replaceAll('"', '""')}"`
    : text;
