import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Journal } from '../../../src/state/journal';
import { until } from '../../../tooling/until';

const MODULE = require.resolve('../../../src/state/journal');

/** A process that sets and deletes entries until it is killed, and prints each change that is done. */
const WRITER = `
const { Journal } = require(${JSON.stringify(MODULE)});
const [path, start] = process.argv.slice(1);
const options = { log: () => {}, isMine: async () => true };
Journal.open(path, options).then(async (journal) => {
  for (let n = Number(start); ; n++) {
    const key = String(n);
    const set = journal.set(key, { n, text: 'é'.repeat(n % 3000) });
    void set.then(() => process.stdout.write('+' + key + '\\n'));
    if (n % 4 !== 0) await set;
    if (n % 3 === 0) {
      const gone = String(n - 1);
      process.stdout.write('?' + gone + '\\n');
      await journal.delete(gone);
      process.stdout.write('-' + gone + '\\n');
    }
  }
});`;

describe('a journal', () => {
  let folder: string;
  let path: string;
  let lines: string[];
  const open = (isMine = true): Promise<Journal> =>
    Journal.open(path, { log: (line) => lines.push(line), isMine: () => Promise.resolve(isMine) });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'device-cloud-journal-'));
    path = join(folder, 'commands.jsonl');
    lines = [];
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('gives the next process its entries in the order in which they were first set', async () => {
    const journal = await open();
    await Promise.all([
      journal.set('a', 1),
      journal.set('b', { text: 'x\n"' }),
      journal.set('c', 3),
    ]);
    await journal.delete('a');
    await journal.delete('never');
    await journal.set('b', [2]);
    await journal.set('a', null);
    await journal.close();
    const next = await open();
    assert.deepEqual(next.entries(), [
      ['b', [2]],
      ['c', 3],
      ['a', null],
    ]);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await next.close();
    assert.deepEqual(lines, []);
  });

  it('that others may read is closed to them', async () => {
    const journal = await open();
    await journal.set('a', 1);
    await journal.close();
    await chmod(path, 0o644);
    const next = await open();
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await next.close();
  });

  it('holds nothing of entries that are gone: once none is left, after a close, and after a start', async () => {
    const text = (): Promise<string> => readFile(path, 'utf8');
    const journal = await open();
    await journal.set('a', 'Canary');
    await journal.delete('a');
    await until(async () => !(await text()).includes('Canary'), 'the last one is gone');
    await journal.set('b', 'stays');
    await journal.set('a', 'Canary');
    await journal.delete('a');
    const killed = await text();
    assert.match(killed, /Canary/);
    await journal.close();
    assert.doesNotMatch(await text(), /Canary/);
    await writeFile(path, killed);
    const next = await open();
    assert.doesNotMatch(await text(), /Canary/);
    assert.deepEqual(next.entries(), [['b', 'stays']]);
    await next.close();
  });

  it('that is killed at any moment has all that was done, and nothing that was torn', async function () {
    this.timeout(180_000);
    const expected = new Set<string>();
    const unsure = new Set<string>();
    let start = 1;
    for (let round = 0; round < 10; round++) {
      const child = spawn(process.execPath, ['-e', WRITER, path, String(start)]);
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      // At a random moment after several changes, however slow the machine is.
      const lines = 10 + Math.random() * 20;
      await until(() => output.split('\n').length > lines, 'it has written some');
      child.kill('SIGKILL');
      await once(child, 'close');
      for (const line of output.split('\n').slice(0, -1)) {
        const key = line.slice(1);
        if (line.startsWith('+')) expected.add(key);
        else if (line.startsWith('?')) unsure.add(key);
        else unsure.delete(key);
        if (!line.startsWith('+')) expected.delete(key);
        start = Math.max(start, Number(key) + 100);
      }
      const journal = await open();
      const found = new Map(journal.entries());
      for (const key of expected) assert.ok(found.has(key), `${key} is lost`);
      for (const [key, value] of found)
        assert.equal((value as { text: string }).text.length, Number(key) % 3000);
      for (const key of found.keys()) if (!unsure.has(key)) expected.add(key);
      await journal.close();
    }
    assert.ok(expected.size > 50);
  });

  it('cuts off a torn end, and continues after it', async () => {
    for (const torn of ['["b",', '["b",{"text":"é', '[', 'x'.repeat(5000)]) {
      lines = [];
      await rm(path, { force: true });
      const first = await open();
      await first.set('a', 'é');
      await first.close();
      await appendFile(path, torn);
      const journal = await open();
      assert.deepEqual(journal.entries(), [['a', 'é']]);
      await journal.set('c', 1);
      await journal.close();
      const next = await open();
      assert.deepEqual(next.entries(), [
        ['a', 'é'],
        ['c', 1],
      ]);
      await next.close();
      assert.equal(lines.length, 1);
      assert.match(lines[0]!, /not written whole/);
    }
  });

  it('continues after an entry with bytes that are not UTF-8', async () => {
    const first = await open();
    await first.set('a', 'é');
    await first.close();
    const bytes = await readFile(path);
    bytes[bytes.indexOf('é')] = 0xff;
    await writeFile(path, bytes);
    const damaged = await open();
    await damaged.set('b', 1);
    await damaged.close();
    const next = await open();
    assert.deepEqual(
      next.entries().map(([key]) => key),
      ['a', 'b'],
    );
    await next.close();
    assert.deepEqual(lines, []);
  });

  it('keeps a copy of a damaged file, and sets a foreign one aside', async () => {
    const first = await open();
    await first.set('a', 1);
    await first.set('b', 2);
    await first.close();
    const text = (await readFile(path, 'utf8')).replace('["a",1]', '["a",\0]');
    await writeFile(path, text);
    const damaged = await open();
    assert.deepEqual(damaged.entries(), [['b', 2]]);
    await damaged.close();
    assert.equal(await readFile(`${path}.set-aside`, 'utf8'), text);
    for (const foreign of [
      'hello\n',
      '',
      '{"format":"device-cloud-journal","version":2}\n["a",1]\n',
    ]) {
      await writeFile(path, foreign);
      const journal = await open();
      assert.equal(journal.entries().length, 0);
      await journal.close();
      assert.equal(await readFile(`${path}.set-aside`, 'utf8'), foreign);
    }
    assert.equal(lines.length, 4);
  });

  it('stays small, however many entries come and go', async function () {
    this.timeout(180_000);
    const journal = await open();
    await journal.set('kept', true);
    // Fifty at a time: each round waits for the disk.
    for (let n = 0; n < 5000; n += 50) {
      const keys = Array.from({ length: 50 }, (_, k) => `k${n + k}`);
      await Promise.all(keys.map((key) => journal.set(key, 'x'.repeat(100))));
      await Promise.all(keys.map((key) => journal.delete(key)));
    }
    assert.ok((await stat(path)).size < 500_000);
    await journal.close();
    const next = await open();
    assert.deepEqual(next.entries(), [['kept', true]]);
    await next.close();
  });

  it('refuses a change when the disk takes no more, and is whole afterwards', async function () {
    this.timeout(180_000);
    const code = `
      process.on('SIGXFSZ', () => {});
      const { Journal } = require(${JSON.stringify(MODULE)});
      Journal.open(process.argv[1], { log() {}, isMine: async () => true }).then(async (journal) => {
        for (let n = 0; n < 100; n++) {
          const outcome = await journal.set('k' + n, 'x'.repeat(3000)).then(() => 'ok', (e) => e.code);
          if (outcome !== 'ok') { console.log(n, outcome, journal.entries().length); break; }
        }
      });`;
    // The shell's unit is 512 or 1,024 bytes.
    const script = `ulimit -f 64; exec "$0" -e "$1" "$2"`;
    const child = spawn('sh', ['-c', script, process.execPath, code, path]);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await once(child, 'close');
    const [count, error, size] = output.trim().split(' ');
    assert.equal(error, 'EFBIG', output);
    assert.equal(size, count);
    const journal = await open();
    assert.equal(journal.entries().length, Number(count));
    await journal.set('after', 1);
    await journal.close();
  });

  it('is not written by a process that lost it to another', async () => {
    const journal = await open(false);
    await assert.rejects(journal.set('a', 1), /taken over/);
    assert.equal(journal.entries().length, 0);
    await journal.close();
  });
});
