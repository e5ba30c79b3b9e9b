import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BOOK_LIMITS, readBookFile } from '../../../src/fleet/book-csv';
import { disarmedBytes, editedBytes } from '../../../src/fleet/book-edit';
import { failure } from '../support/failure';

const HEADER = 'chipid,name,groups,note,own';
const piece = fc.constantFrom(
  '7',
  '8,',
  'Gate',
  ',',
  '\n',
  '\r\n',
  '"',
  '""',
  '"a\nb"',
  ';',
  '=1',
  "'",
);
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
const cell = fc.string({ unit: fc.constantFrom(...'ab=+-@\'"\t\n\r,; 1＝'), maxLength: 8 });
const bytesOf = (body: string): Buffer => Buffer.from(`${HEADER}\n${body}`);

describe('the file of a device book', () => {
  it('is read record by record, and each has its line, whatever the cells hold', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (body) => {
        const bytes = bytesOf(body);
        const file = await readBookFile(bytes).catch(() => undefined);
        for (const { start, end, line } of file?.records ?? []) {
          const before = String(bytes.subarray(0, start)).split(/\r\n|\n|\r/);
          assert.equal(line, before.length);
          assert.equal(before.at(-1), '');
          assert.ok(end === bytes.length || /[\r\n]/.test(String(bytes.subarray(end - 1, end))));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('names the line of a row that does not end, also behind empty lines', async () => {
    const { message } = await failure(
      readBookFile(Buffer.from('chipid,name\n1,a\n\n\r\n\n2,"x')),
      'INVALID_INPUT',
    );
    assert.match(message, /begins on line 6 does not end/);
  });

  it('keeps cells of columns that are called like properties of every object', async () => {
    const file = await readBookFile(Buffer.from('chipid,constructor,__proto__,name\n7,a,b,c\n'));
    const edited = await editedBytes(file, { rows: [{ chipid: '7', name: 'Gate' }] });
    assert.equal(String(edited), 'chipid,constructor,__proto__,name\n7,a,b,Gate\n');
  });

  it('changes and removes rows beyond the most devices of a book, each the first of its device', async () => {
    const rows = Array.from({ length: BOOK_LIMITS.rows }, (_, index) => `${index + 10},`).join(
      '\n',
    );
    const head = `chipid,name\n${rows}\n`;
    const file = await readBookFile(Buffer.from(`${head}7,Gate\n8,Door\n7,Again\n8,Again\n`));
    const edit = { rows: [{ chipid: '7', name: 'Pump' }], remove: ['7', '8'] };
    const edited = String(await editedBytes(file, edit));
    assert.equal(edited.slice(head.length), '7,Pump\n7,Again\n8,Again\n');
  });

  it('gives back the text of each cell that is written, and no cell is a formula', async () => {
    await fc.assert(
      fc.asyncProperty(cell, cell, fc.constantFrom(',', ';'), async (note, other, separator) => {
        const head = Buffer.from(HEADER.replaceAll(',', separator) + '\n');
        const file = await readBookFile(head);
        const edited = await editedBytes(file, {
          rows: [
            { chipid: '7', note },
            { chipid: '8', note: other },
          ],
        });
        const after = await readBookFile(edited);
        const notes = [...after.devices.values()].map(({ row }) => row.note ?? '');
        assert.deepEqual(notes, [note, other]);
        assert.deepEqual(await disarmedBytes(after), edited);
      }),
      { numRuns: 500 },
    );
  });
});
