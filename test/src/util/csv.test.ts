import assert from 'node:assert/strict';
import { readCsv } from '../../../src/util/csv';

const cellsOf = (text: string): { columns: string[]; cells: (readonly string[])[] } => {
  const { columns, rows } = readCsv(Buffer.from(text));
  return { columns, cells: rows.map(({ cells }) => cells) };
};

describe('a CSV file', () => {
  for (const [what, text] of [
    ['commas', 'chipid,payload\n1,a\n2,b\n'],
    ['semicolons', 'chipid;payload\n1;a\n2;b\n'],
    ['tabs', 'chipid\tpayload\n1\ta\n2\tb\n'],
    ['a first line that names the separator', 'sep=;\r\nchipid;payload\r\n1;a\r\n2;b\r\n'],
    ['a byte order mark before that line', '\uFEFFsep=;\nchipid;payload\n1;a\n2;b'],
    ['a byte order mark, and capitals with blanks around', '\uFEFF ChipID , Payload \n1,a\n2,b\n'],
    ['line ends of old', 'chipid,payload\r1,a\r2,b\r'],
    ['empty lines and blank rows', '\nchipid,payload\n1,a\n\n , \n2,b\n,\n'],
    ['blank cells behind the columns', 'chipid,payload\n1,a,,\n2,b\n'],
  ] as const)
    it(`is read with ${what}`, () =>
      assert.deepEqual(cellsOf(text), {
        columns: ['chipid', 'payload'],
        cells: [
          ['1', 'a', ...(text.includes('a,,') ? ['', ''] : [])],
          ['2', 'b'],
        ],
      }));

  it('has cells as they are: quoted, with quotation marks inside, and missing ones', () =>
    assert.deepEqual(cellsOf('a,b,c\n"x, ""y""\nz", {"t":1} \n1\n'), {
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

  it('is refused if a row has more cells than columns, or the text is none', () => {
    assert.throws(
      () => cellsOf('chipid,payload\n1,a\n1,{"t":1,"h":2}\n'),
      /^Error: Line 3 has 3 cells, and the header only 2: a cell with a separator in it needs /,
    );
    assert.throws(() => readCsv(Buffer.from([0x61, 0xff])), /^Error: It must be UTF-8 text\.$/);
    assert.throws(() => cellsOf('chipid,payload\n1,"a\n'), /Quote Not Closed/);
  });
});
