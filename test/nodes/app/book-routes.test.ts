import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  BookAnswer,
  BookBrief,
  BookPreview,
  Diagnostics,
} from '../../../nodes/app/answers.config';
import { temporaryFolder } from '../../tooling/temporary-folder';
import { until } from '../../tooling/until';
import { load, node, simulatorApp } from '../support/flow';
import { useNodeRed } from '../support/node-red';
import { ask, read, type Refusal } from '../support/routes';

describe('the routes of the device book', () => {
  useNodeRed();
  let path: string;
  const ROUTE = 'apps/app/book';
  const readBook = (): Promise<BookAnswer> => read(ROUTE);
  const put = (body: object | string, revision: string, query = '') => {
    const type = typeof body === 'string' ? 'text/csv' : 'application/json';
    const headers = { 'If-Match': `"${revision}"`, 'Content-Type': type };
    const asked = { method: 'put', headers, body } as const;
    return ask<BookBrief & BookPreview & Refusal>(ROUTE + query, asked);
  };

  beforeEach(async () => {
    path = join(temporaryFolder('book-routes'), 'devices.csv');
    writeFileSync(path, '\uFEFFchipid;name;groups;Site\r\n007;Gate;a|b;"x;y"\r\n8;Door\r\n');
    await load([simulatorApp({ book: path }), node('listen', { chipids: ['7'] })]);
  });

  it('changes rows, and leaves everything else as it was written', async () => {
    const { revision, csv, groups } = await readBook();
    assert.equal(csv, readFileSync(path, 'utf8'));
    assert.deepEqual(groups, [
      { name: 'a', count: 1 },
      { name: 'b', count: 1 },
    ]);
    const rows = [
      { chipid: '8', groups: ['c', 'a'] },
      { chipid: '9', name: '=1+1', note: '"n"' },
    ];
    const change = { rows, remove: ['77'] };
    const preview = await put(change, revision, '?preview');
    assert.deepEqual(preview.body, {
      ...{ added: ['9'], changed: ['8'], columns: [['groups']], gone: [] },
      ...{ names: { 9: '=1+1', 8: 'Door' }, problems: [], badRows: 0, warnings: [] },
    });
    assert.equal(readFileSync(path, 'utf8'), csv);
    const { status, body } = await put(change, revision);
    assert.equal(status, 200);
    const text =
      '\uFEFFchipid;name;groups;Site;note\r\n007;Gate;a|b;"x;y"\r\n8;Door;c|a\r\n9;\'=1+1;;;"""n"""\r\n';
    assert.equal(readFileSync(path, 'utf8'), text);
    assert.equal((await put({ remove: ['8', 7] }, body.revision)).status, 200);
    assert.match(readFileSync(path, 'utf8'), /^.*\r\n9;.*\r\n$/);
  });

  it('adds a column to a book with invalid rows, unless one of them has a cell where the column would be', async () => {
    const text = 'chipid,name\nx,Wrong\n7,Gate\n';
    writeFileSync(path, text);
    const change = { rows: [{ chipid: '7', groups: ['a'] }] };
    assert.equal((await put(change, (await readBook()).revision)).status, 200);
    assert.equal(readFileSync(path, 'utf8'), 'chipid,name,groups\nx,Wrong\n7,Gate,a\n');
    writeFileSync(path, `${text}8,Door,of wood\n`);
    const { status, body } = await put(change, (await readBook()).revision);
    assert.equal(status, 400);
    assert.match(body.error.message, /a row with more cells than columns/);
  });

  it('replaces the file, and disarms formulas', async () => {
    const { revision } = await readBook();
    const { status, body } = await put('chipid,name\n7,=cmd\n8,-5\n', revision);
    assert.deepEqual([status, body.size], [200, 2]);
    assert.equal(readFileSync(path, 'utf8'), "chipid,name\n7,'=cmd\n8,-5\n");
  });

  it('refuses what is no book, what is too old, and what has no revision', async () => {
    const { revision, csv } = await readBook();
    assert.equal((await put('name\nGate\n', revision)).status, 400);
    assert.equal((await put({ rows: [{ chipid: 'x' }] }, revision)).status, 400);
    assert.equal((await put({ rows: [{ chipid: '7', groups: ['a|b'] }] }, revision)).status, 400);
    assert.equal((await put('chipid\n7\n', '')).status, 400);
    writeFileSync(path, `${csv}9;New\r\n`);
    const { status, body } = await put('chipid\n7\n', revision);
    assert.equal(status, 412);
    assert.match(body.error.message, /has changed since/);
    assert.equal(readFileSync(path, 'utf8'), `${csv}9;New\r\n`);
  });

  it('give the row of a device, with the revision that a change of it needs, without the file', async () => {
    const body = await read(`${ROUTE}?brief&chipid=7`);
    const { revision, csv: _, ...rest } = await readBook();
    const row = { chipid: '7', name: 'Gate', groups: ['a', 'b'], Site: 'x;y' };
    assert.deepEqual(body, { ...rest, revision, size: 2, row });
    const other = await read(`${ROUTE}?brief&chipid=9`);
    assert.deepEqual(other, { ...rest, revision, size: 2 });
  });

  it('add numbers to the diagnostics, and nothing else of the book', async () => {
    writeFileSync(path, 'chipid,name,groups\n7,Secret,Hidden\nx,Secret,Hidden\n');
    const diagnose = async (): Promise<{ counts: Record<string, number>; text: string }> => {
      const { body, text } = await ask<Diagnostics>('diagnostics');
      return { counts: body.apps[0]?.counts ?? {}, text };
    };
    await until(async () => (await diagnose()).counts['bookRowsLeftOut'] === 1, 'it is read again');
    const { counts, text } = await diagnose();
    const { bookDevices, bookGroups, bookRowsLeftOut, bookFaults } = counts;
    assert.deepEqual([bookDevices, bookGroups, bookRowsLeftOut, bookFaults], [1, 1, 1, 0]);
    assert.doesNotMatch(text, /Secret|Hidden|devices\.csv/);
  });

  it('give a CSV to those who ask for one', async () => {
    const answer = await ask(ROUTE, { headers: { Accept: 'text/csv' } });
    assert.equal(answer.text, readFileSync(path, 'utf8'));
    assert.match(String(answer.headers['content-disposition']), /devices\.csv/);
  });
});
