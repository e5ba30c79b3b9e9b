import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse } from 'csv-parse/sync';
import { csvCell, readCsvRecord, type CsvSeparator } from '../../../src/util/csv';

/** All records of a text; undefined if one does not end. */
function recordsOf(text: string, separator: CsvSeparator): string[][] | undefined {
  const records: string[][] = [];
  for (let at = 0; at < text.length;) {
    const record = readCsvRecord(text, at, separator);
    if (!record) return undefined;
    assert.ok(record.end > at);
    records.push(record.cells);
    at = record.end;
  }
  return records;
}

const separators = fc.constantFrom(',' as const, ';' as const);

describe('a text in CSV', () => {
  it('gives back the cells that were written, whatever is in them', () => {
    const cell = fc.string({ unit: fc.constantFrom(...'ab"\r\n,; \t温'), maxLength: 8 });
    const record = fc.array(cell, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 4 }),
        separators,
        fc.constantFrom('\n', '\r\n', '\r'),
        (records, separator, end) => {
          const lines = records.map(
            (cells) => cells.map((text) => csvCell(text, separator)).join(separator) + end,
          );
          assert.deepEqual(recordsOf(lines.join(''), separator), records);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('is read as by csv-parse, except for quotation marks behind which a cell goes on', () => {
    const piece = fc.constantFrom('a', ',', '\n', '\r\n', '"b"', '""', '"c\nd"', '"e""f"', ' ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = pieces.join('');
        let expected: string[][];
        try {
          const record_delimiter = ['\r\n', '\n', '\r'];
          expected = parse(text, { record_delimiter, relax_column_count: true });
        } catch {
          return;
        }
        assert.deepEqual(recordsOf(text, ','), expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('says where a cell has taken in the lines behind it', () => {
    const text = 'x,"Gate\n8,Door\n9,"Pump"\n10,Lamp';
    const torn = readCsvRecord(text, 0, ',');
    assert.deepEqual(torn, { cells: ['x', '"Gate\n8,Door\n9,"Pump"'], end: 24, isTorn: true });
    assert.deepEqual(readCsvRecord(text, 24, ','), {
      ...{ cells: ['10', 'Lamp'], end: text.length, isTorn: false },
    });
    assert.equal(readCsvRecord('a,"b\nc', 0, ','), undefined);
    assert.deepEqual(readCsvRecord('5" pipe,"a"b', 0, ',')?.cells, ['5" pipe', '"a"b']);
  });
});
