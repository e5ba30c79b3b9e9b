import assert from 'node:assert/strict';
import fs, { readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Book, type BookRow } from '../../../src/fleet/book';
import { removeFolder, temporaryFolder } from '../../tooling/temporary-folder';
import { until } from '../../tooling/until';
import fc from 'fast-check';
import { disarmedBytes, editedBytes } from '../../../src/fleet/book-edit';
import { BOOK_LIMITS, type BookFile, readBookFile } from '../../../src/fleet/book-file';
import { failure } from '../support/failure';

describe('the device book', () => {
  let folder: string;
  let path: string;
  let book: Book | undefined;

  const open = async (text?: string | Buffer): Promise<Book> => {
    if (text !== undefined) writeFileSync(path, text);
    book = new Book(path);
    await book.ready;
    return book;
  };
  const row = (chipid: string): BookRow | undefined => book?.row(chipid);
  const problems = (): string[] => book!.problems.map(({ line, reason }) => `${line}: ${reason}`);

  beforeEach(() => {
    folder = temporaryFolder('book');
    path = join(folder, 'devices.csv');
  });
  afterEach(() => {
    book?.close();
    removeFolder(folder);
  });

  it('has the rows of a file, by number, group and type', async () => {
    await open(
      'chipid,name,groups,type,note,Site\n007,Gate,north; pumps,meter,"by ""hand"", 2024",Wien \n' +
        '8,,pumps,,,\n10000000000000000000,Far,,,,\n',
    );
    assert.deepEqual(row('7'), {
      ...{ chipid: '7', name: 'Gate', groups: ['north', 'pumps'], type: 'meter' },
      ...{ note: 'by "hand", 2024', Site: 'Wien ' },
    });
    assert.deepEqual(row('8'), { chipid: '8', groups: ['pumps'], Site: '' });
    assert.equal(row('10000000000000000000')?.name, 'Far');
    assert.equal(row('7')?.type, 'meter');
    assert.deepEqual(book!.file.groups.get('pumps'), ['7', '8']);
    assert.equal(book!.file.groups.get('south'), undefined);
    assert.deepEqual(book!.groups(), [
      { name: 'north', count: 1 },
      { name: 'pumps', count: 2 },
    ]);
    assert.deepEqual(book!.problems, []);
  });

  it('gives each caller a row of its own', async () => {
    await open('chipid,groups\n7,a;b\n8,a;b\n');
    const first = row('7');
    first!.groups.push('c');
    first!.name = 'changed';
    assert.deepEqual(row('7'), { chipid: '7', groups: ['a', 'b'] });
    assert.deepEqual(row('8'), { chipid: '8', groups: ['a', 'b'] });
  });

  it('reads what spreadsheets write: byte order mark, semicolons, CR LF, quoted line ends', async () => {
    await open(
      '\uFEFFChipID;Name;Groups;\r\n7;"Gate\r\nnorth";"a|b";\r\n;;;\r\n\r\n8;5" pipe;a;\r\n',
    );
    assert.deepEqual(row('7'), { chipid: '7', name: 'Gate\r\nnorth', groups: ['a', 'b'] });
    assert.deepEqual(row('8'), { chipid: '8', name: '5" pipe', groups: ['a'] });
    assert.deepEqual(problems(), []);
  });

  it('names the rows that it leaves out, with line and reason', async () => {
    const many = Array.from({ length: 101 }, (_, index) => `g${index}`).join(';');
    await open(
      'chipid,name,groups\n7,Gate,a\n"8\n",Door,\n1.0E+07,Rounded,\n7,Again,b\n,No number,\n9,a,b,c\n' +
        `10,Many,${many}\n11,${'n'.repeat(201)},\n`,
    );
    assert.equal(row('7')?.name, 'Gate');
    assert.equal(row('8')?.name, 'Door');
    assert.equal(book!.file.devices.size, 2);
    assert.equal(book!.file.badRows, 6);
    assert.deepEqual(problems(), [
      '5: has the chip number "1.0E+07": a spreadsheet has rounded it. Format the column chipid as text, and type the number again',
      '6: is another row of device 7, whose first one counts',
      '7: has no chip number',
      '8: has 4 cells, and the header only 3: a cell with a separator in it needs quotation marks',
      '9: has 101 groups: at most 100 are possible',
      '10: has a name of more than 200 characters',
    ]);
  });

  const BAD: [what: string, content: string | Buffer, reason: RegExp][] = [
    ['with an open quotation mark', 'chipid,name\n7,"a\n8,b\n', /line 2 .*quotation mark/],
    ['too large', Buffer.alloc(17 * 2 ** 20, 'chipid\n'), /17825792 bytes/],
  ];
  for (const [what, content, reason] of BAD) {
    it(`keeps the rows of before while the file is ${what}, and says why`, async () => {
      await open('chipid,name\n7,Gate\n');
      const { revision } = book!;
      writeFileSync(path, content);
      await until(() => book!.problems.length > 0, 'the file was read');
      assert.match(problems()[0]!, reason);
      assert.equal(problems().length, 1);
      assert.equal(book!.problems[0]!.line, 0);
      assert.equal(row('7')?.name, 'Gate');
      assert.equal(book!.revision, revision);
      writeFileSync(path, 'chipid,name\n7,Door\n');
      await until(() => row('7')?.name === 'Door', 'the repaired file was read');
      assert.deepEqual(problems(), []);
    });
  }

  it('reads no device, pipe or folder, and does not open it', async () => {
    symlinkSync('/dev/zero', path);
    await open();
    assert.match(problems()[0]!, /^0: .* is not a file, but a folder, a device or a pipe/);
    unlinkSync(path);
    writeFileSync(path, 'chipid\n7\n');
    await until(() => book!.file.devices.size === 1, 'the file was read');
  });

  it('is read again when its file is replaced, and appears later', async () => {
    await open();
    assert.deepEqual([problems(), book!.isWritten], [[], false]);
    let changes = 0;
    const end = book!.onChange(() => changes++);
    for (const name of ['one', 'two']) {
      writeFileSync(join(folder, 'new.csv'), `chipid,name\n7,${name}\n`);
      renameSync(join(folder, 'new.csv'), path);
      await until(() => row('7')?.name === name, `the file of ${name} was read`);
    }
    assert.equal(changes, 2);
    end();
    unlinkSync(path);
    await until(() => book!.problems.length > 0, 'it was seen that the file is gone');
    assert.equal(row('7')?.name, 'two');
    assert.match(problems()[0]!, /^0: The file of the device book, .*, is gone/);
    assert.equal(changes, 2);
  });

  it('loses no edit of two applications with one book, however they reach it', async () => {
    writeFileSync(path, 'chipid,name\n7,Gate\n');
    symlinkSync(path, join(folder, 'link.csv'));
    const books = [path, join(folder, 'link.csv')].map((each) => new Book(each));
    const add = async (index: number): Promise<void> => {
      const own = books[index % 2]!;
      const edit = { rows: [{ chipid: String(100 + index), name: 'New' }] };
      for (;;) {
        const { revision } = await own.content();
        try {
          await own.write({ edit }, revision);
          return;
        } catch (error) {
          assert.equal((error as { statusCode?: number }).statusCode, 412);
        }
      }
    };
    try {
      await Promise.all(books.map(({ ready }) => ready));
      await Promise.all(Array.from({ length: 50 }, (_, index) => add(index)));
    } finally {
      for (const each of books) each.close();
    }
    assert.equal(readFileSync(path, 'utf8').trim().split('\n').length, 52);
  });

  it('says what to do if its file cannot be replaced, as one that is mounted into a container by itself', async () => {
    await open('chipid,name\n7,Gate\n');
    const usual = fs.rename;
    fs.rename = ((from, to, done) => {
      const text = `EBUSY: resource busy or locked, rename '${String(from)}' -> '${String(to)}'`;
      done(Object.assign(new Error(text), { code: 'EBUSY', syscall: 'rename' }));
    }) as typeof fs.rename;
    try {
      const edit = { rows: [{ chipid: '7', name: 'Door' }] };
      await assert.rejects(book!.write({ edit }, book!.revision), /\(EBUSY\).*mount its folder/);
    } finally {
      fs.rename = usual;
    }
    assert.equal(readFileSync(path, 'utf8'), 'chipid,name\n7,Gate\n');
    assert.equal(row('7')?.name, 'Gate');
  });

  it('has read what has changed once it has refused a write for it', async () => {
    await open('chipid,name\n7,Gate\n');
    const { revision } = book!;
    const edit = { rows: [{ chipid: '7', name: 'Pump' }] };
    for (const attempt of ['write', 'preview'] as const) {
      writeFileSync(path, `chipid,name\n7,before the ${attempt}\n`);
      await assert.rejects(book![attempt]({ edit }, revision), { statusCode: 412 });
      assert.equal(row('7')?.name, `before the ${attempt}`);
    }
    await book!.write({ edit }, book!.revision);
    assert.equal(row('7')?.name, 'Pump');
  });

  it('does not use a file that is half written', async () => {
    await open('chipid,name\n7,Gate\n8,Door\n');
    const seen = new Set<number>();
    book!.onChange(() => seen.add(book!.file.devices.size));
    const text = `chipid,name\n${Array.from({ length: 99 }, (_, index) => `${index},Device\n`).join('')}`;
    writeFileSync(path, '');
    for (let length = 0; length < text.length; length += 50) {
      writeFileSync(path, text.slice(length, length + 50), { flag: 'a' });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await until(() => book!.file.devices.size === 99, 'the whole file was read');
    assert.deepEqual([...seen], [99]);
  });
});

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
