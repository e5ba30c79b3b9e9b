import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  cellText,
  csvForm,
  csvRecords,
  disarmedCell,
  readCsv,
  writeCsv,
  type CsvRecord,
} from '../../../src/util/csv';

async function read(text: string): Promise<CsvRecord[]> {
  const records: CsvRecord[] = [];
  for await (const record of csvRecords(Buffer.from(text))) records.push(record);
  return records;
}

const cellsOf = async (text: string): Promise<(readonly string[])[]> =>
  (await read(text)).map(({ cells }) => cells);

/** Reads a file and writes its records again. */
async function written(text: string): Promise<string> {
  return String(await writeCsv(csvForm(Buffer.from(text)), await cellsOf(text)));
}

const cell = fc.string({
  unit: fc.constantFrom(...'ab=+-@\'"\t\n\r,; 1＝\uFEFF\u00A0'),
  maxLength: 8,
});

describe('a CSV file, record by record', () => {
  const SAME = [
    ['a', 'b'],
    ['1', 'x;y,z'],
  ];
  for (const [what, text] of [
    ['with commas', 'a,b\n1,"x;y,z"\n'],
    ['with semicolons', 'a;b\n1;"x;y,z"\n'],
    ['with tabs', 'a\tb\n1\tx;y,z\n'],
    ['with a byte order mark', '\uFEFFa,b\r\n1,"x;y,z"\r\n'],
    ['whose first line names the separator', '\uFEFFsep=;\r\na;b\r\n1;"x;y,z"\r\n'],
    ['whose first line names another one than the header has most', 'sep=\t\na\tb\n1\tx;y,z\n'],
  ] as const) {
    it(`${what} is read, and written as it was`, async () => {
      assert.deepEqual(await cellsOf(text), SAME);
      assert.equal(await written(text), text);
    });
  }

  it('has lines that are counted as an editor does', async () => {
    const text = 'sep=,\r\n\r\na,b\r\n1,"x\r\ny\nz"\r\n\n\r\n2,"w\n"\n3,k';
    assert.deepEqual(
      (await read(text)).map(({ line, cells }) => [line, cells[0]]),
      [
        [3, 'a'],
        [4, '1'],
        [9, '2'],
        [11, '3'],
      ],
    );
  });

  it('has a record that is torn if a quotation mark is not closed', async () => {
    const records = await read('a,b\n1,"x\n2,y "z"\n3,5" pipe\n4,"""a""\nb"\n');
    assert.deepEqual(
      records.map(({ line, isTorn }) => [line, isTorn]),
      [
        [1, false],
        [2, true],
        [4, false],
        [5, false],
      ],
    );
  });

  it('is refused, with a line, if a record does not end', async () => {
    for (const text of ['a,b\n\n1,"x\n2,y\n', `a,b\n\n1,${'x'.repeat(70_000)}\n`])
      await assert.rejects(read(text), /begins on line 3 does not end/);
  });

  it('has cells that no spreadsheet takes for formulas, whatever it takes for a separator', () => {
    fc.assert(
      fc.property(cell, (text) => {
        const disarmed = disarmedCell(text);
        assert.equal(cellText(disarmed), text);
        for (const part of disarmed.split(/[,;\t\r\n]/))
          assert.ok(!/^[=+\-@＝]/.test(part) || /^[+-]\d+$/.test(part), part);
      }),
    );
    assert.equal(disarmedCell('a;=1+1'), "a;'=1+1");
    assert.equal(disarmedCell('-5;+1.5e3'), '-5;+1.5e3');
  });
});

const tableOf = (text: string): { columns: string[]; cells: (readonly string[])[] } => {
  const { columns, rows } = readCsv(Buffer.from(text));
  return { columns, cells: rows.map(({ cells }) => cells) };
};

describe('a CSV file as a whole', () => {
  for (const [what, text] of [
    ['commas', 'chipid,payload\n1,a\n2,b\n'],
    ['semicolons', 'chipid;payload\n1;a\n2;b\n'],
    ['a byte order mark before that line', '\uFEFFsep=;\nchipid;payload\n1;a\n2;b'],
    ['a byte order mark, and capitals with blanks around', '\uFEFF ChipID , Payload \n1,a\n2,b\n'],
    ['line ends of old', 'chipid,payload\r1,a\r2,b\r'],
    ['empty lines and blank rows', '\nchipid,payload\n1,a\n\n , \n2,b\n,\n'],
    ['blank cells behind the columns', 'chipid,payload\n1,a,,\n2,b\n'],
  ] as const)
    it(`is read with ${what}`, () =>
      assert.deepEqual(tableOf(text), {
        columns: ['chipid', 'payload'],
        cells: [
          ['1', 'a', ...(text.includes('a,,') ? ['', ''] : [])],
          ['2', 'b'],
        ],
      }));

  it('has cells as they are: quoted, with quotation marks inside, and missing ones', () =>
    assert.deepEqual(tableOf('a,b,c\n"x, ""y""\nz", {"t":1} \n1\n'), {
      ...{ columns: ['a', 'b', 'c'] },
      cells: [['x, "y"\nz', ' {"t":1} '], ['1']],
    }));

  it('counts its lines', () => {
    const { rows } = readCsv(Buffer.from('sep=,\na,b\n\n1,2\n"x\ny",2\n3,4\n'));
    assert.deepEqual(
      rows.map(({ line }) => line),
      [4, 6, 7],
    );
  });

  it('is refused if a row has more cells than columns, or the text is not CSV', () => {
    assert.throws(
      () => tableOf('chipid,payload\n1,a\n1,{"t":1,"h":2}\n'),
      /^Error: Line 3 has 3 cells, and the header only 2: a cell with a separator in it needs /,
    );
    assert.throws(() => readCsv(Buffer.from([0x61, 0xff])), /^Error: It must be UTF-8 text\.$/);
    assert.throws(() => tableOf('chipid,payload\n1,"a\n'), /Quote Not Closed/);
  });
});
