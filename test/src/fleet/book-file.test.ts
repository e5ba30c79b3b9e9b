import assert from 'node:assert/strict';
import fc from 'fast-check';
import { disarmedBytes, editedBytes } from '../../../src/fleet/book-edit';
import { BOOK_LIMITS, readBookFile, type BookFile } from '../../../src/fleet/book-file';
import { failure } from '../support/failure';

const cell = fc.string({ unit: fc.constantFrom(...'ab=+-@\'"\t\n\r,; 1＝'), maxLength: 8 });

const read = (text: string, keepsRecords = false): Promise<BookFile> =>
  readBookFile(Buffer.from(text), keepsRecords);
const edit = async (text: string, change: object): Promise<string> =>
  String(await editedBytes(await read(text, true), change));
const list = (count: number, entry: (index: number) => string, end = '\n'): string =>
  Array.from({ length: count }, (_, index) => entry(index) + end).join('');

describe('the file of a device book', () => {
  const BAD: [what: string, content: string | Buffer, reason: RegExp][] = [
    ['empty', '', /is empty/],
    ['without the column chipid', 'name,groups\nGate,a\n', /one of which is chipid.*"name,groups"/],
    ['with two columns of one name', 'chipid,name,name\n7,a,b\n', /two columns "name"/],
    ['an image', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /text in UTF-8/],
    ['in another encoding', Buffer.from('chipid,name\n7,\xE9t\xE9\n', 'latin1'), /text in UTF-8/],
    ['with a cell of 10 MB', `chipid,name\n7,a\n8,${'x'.repeat(10 ** 7)}\n`, /line 3 .*65536/],
  ];
  for (const [what, content, reason] of BAD) {
    it(`is refused if it is ${what}`, async () => {
      const { message } = await failure(
        readBookFile(Buffer.from(content as string), false),
        'INVALID_INPUT',
      );
      assert.match(message, reason);
    });
  }

  it('names the line of a row that does not end, also behind empty lines', async () => {
    const text = 'chipid,name\n1,a\n\n\r\n\n2,"x';
    const { message } = await failure(read(text), 'INVALID_INPUT');
    assert.match(message, /begins on line 6 does not end/);
  });

  it('has the numbers that a spreadsheet has written as text, or a person has copied', async () => {
    const numbers = ['="00012"', '"=""13"""', '\u200B14\uFEFF', '\u00A015\u2060', '\u202A16\u202C'];
    const { devices, problems } = await read(`\u200Bchipid\u00A0\n${numbers.join('\n')}\n`);
    assert.deepEqual([[...devices.keys()], problems], [['12', '13', '14', '15', '16'], []]);
  });

  it('sets no cell that a row does not have', async () => {
    const { devices } = await read('chipid,name,a,b\n7\n8,,,x\n');
    assert.deepEqual(
      [...devices.values()],
      [
        { chipid: '7', groups: [] },
        { chipid: '8', groups: [], a: '', b: 'x' },
      ],
    );
  });

  it('warns of a comma within a group where another character stands between two', async () => {
    const { groups, warnings, badRows } = await read('chipid;groups\n7;north,pumps\n8;a|b\n');
    assert.deepEqual([[...groups.keys()], badRows], [['north,pumps', 'a', 'b'], 0]);
    const reason =
      'has the group "north,pumps": in this file | stands between two groups, not a comma';
    assert.deepEqual(warnings, [{ line: 2, reason }]);
  });

  describe('is read up to its limits, and says so', () => {
    it('in columns', async () => {
      const head = `chipid${list(14_000, (index) => `,${index.toString(36)}`, '')}`;
      const { message } = await failure(read(`${head}\n${list(8000, String)}`), 'INVALID_INPUT');
      assert.match(message, /has 14001 columns: at most 200 are read/);
    });

    const { rows } = BOOK_LIMITS;
    for (const [what, row] of [
      ['devices', String],
      ['rows, however wrong', () => 'x'],
    ] as const)
      it(`in ${what}`, async () => {
        const file = await read(`chipid\n${list(rows + 9, row)}`, true);
        const reason =
          'is left out, as are all behind it: of a device book at most 50000 rows are read';
        assert.deepEqual(file.problems.at(-1), { line: rows + 2, reason });
        assert.ok(file.problems.length <= BOOK_LIMITS.problems + 1);
        const change = { rows: [{ chipid: '7', name: 'Gate' }] };
        const { message } = await failure(editedBytes(file, change), 'INVALID_INPUT');
        assert.match(message, /what is not read would be lost/);
      });

    it('in groups', async () => {
      const groups = (from: number): string => list(100, (index) => `g${from + index}`, ';');
      const many = list(101, (index) => `${index + 10},${groups(100 * index)}`);
      const file = await read(`chipid,groups\n${many}7,g0\n`);
      assert.equal(file.groups.size, BOOK_LIMITS.allGroups);
      const reason =
        'has the group "g10000", which is one too many: a device book has at most 10000 groups';
      assert.deepEqual(file.problems, [{ line: 102, reason }]);
      assert.ok(file.devices.has('7'));
    });
  });

  describe('is written anew by an edit', () => {
    it('with all columns and rows in their order, and cells as they are', async () => {
      const text =
        '\uFEFFsep=;\r\nChipID;constructor;__proto__;name;\r\n="007";=1+1;" b ";c;\r\nx;;;Wrong\r\n;;;\r\n8\r\n';
      const change = { rows: [{ chipid: '7', name: 'Gate' }, { chipid: '9' }] };
      const expected = text.replace(';c;', ';Gate;').replace('="007"', '"=""007"""');
      assert.equal(await edit(text, change), `${expected}9\r\n`);
    });

    it('unless some of it would be lost', async () => {
      const text = 'chipid,name\n7,"Gate\n8,Door\n9,"Pump"\n';
      const { message } = await failure(edit(text, { remove: ['7'] }), 'INVALID_INPUT');
      assert.match(message, /cannot be written: line 2 has a quotation mark that is not closed/);
    });
  });

  it('gives back the text of each cell that is written, and no cell is a formula', async () => {
    const separators = fc.constantFrom(',', ';', '\t');
    await fc.assert(
      fc.asyncProperty(cell, cell, separators, async (note, other, separator) => {
        const changes = [
          { chipid: '7', note },
          { chipid: '8', note: other },
        ];
        const head = 'chipid,name,groups,note,own'.replaceAll(',', separator);
        const edited = Buffer.from(await edit(head, { rows: changes }));
        const after = await readBookFile(edited, true);
        const notes = [...after.devices.values()].map((row) => row.note ?? '');
        assert.deepEqual(notes, [note, other]);
        assert.deepEqual(await disarmedBytes(after), edited);
      }),
      { numRuns: 500 },
    );
  });
});
