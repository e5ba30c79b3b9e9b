import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readBookFile } from '../../../src/fleet/book-read';
import { disarmedBytes, editedBytes } from '../../../src/fleet/book-edit';

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
const read = (bytes: Buffer) => readBookFile(bytes).catch((error: Error) => error.message);

describe('the file of a device book', () => {
  it('that has changed is read as if it were new, whatever of an earlier one is reused', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, text, text, async (start, old, now, end) => {
        const before = await read(bytesOf(`${start}${old}${end}`));
        if (typeof before === 'string') return;
        const bytes = bytesOf(`${start}${now}${end}`);
        const changed = await readBookFile(bytes, before).catch((error: Error) => error.message);
        assert.deepEqual(changed, await read(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('whose lines were sorted, removed and added is read as if it were new, too', async () => {
    const line = fc.constantFrom(
      '7,Gate',
      '8,"a',
      'b"',
      '9,x\r',
      '',
      '10,"c""d"',
      '"',
      '7,"e',
      'é,f',
    );
    const lines = fc.array(line, { maxLength: 12 }).map((all) => all.join('\n'));
    await fc.assert(
      fc.asyncProperty(lines, lines, async (old, now) => {
        const before = await read(bytesOf(old));
        if (typeof before === 'string') return;
        const bytes = bytesOf(now);
        const changed = await readBookFile(bytes, before).catch((error: Error) => error.message);
        assert.deepEqual(changed, await read(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('keeps cells of columns that are called like properties of every object', async () => {
    const file = await readBookFile(Buffer.from('chipid,constructor,__proto__,name\n7,a,b,c\n'));
    const edited = await editedBytes(file, { rows: [{ chipid: '7', name: 'Gate' }] });
    assert.equal(String(edited), 'chipid,constructor,__proto__,name\n7,a,b,Gate\n');
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
        const notes = after.records.flatMap((row) =>
          typeof row === 'object' ? [row.note ?? ''] : [],
        );
        assert.deepEqual(notes, [note, other]);
        assert.deepEqual(await disarmedBytes(after), edited);
      }),
      { numRuns: 500 },
    );
  });
});
