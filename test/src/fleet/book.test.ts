import assert from 'node:assert/strict';
import fs, { readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Book, type BookRow } from '../../../src/fleet/book';
import { removeFolder, temporaryFolder } from '../../tooling/temporary-folder';
import { until } from '../../tooling/until';

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
