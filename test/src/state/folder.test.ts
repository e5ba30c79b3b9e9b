import assert from 'node:assert/strict';
import {
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StateFolder, fileNameOf } from '../../../src/state/folder';
import { until } from '../../../tooling/until';

describe('kept values', () => {
  let root: string;
  let path: string;
  let lines: string[];
  const log = (line: string): number => lines.push(line);
  const open = (options = {}): Promise<StateFolder> =>
    StateFolder.open(path, { application: '1', log, heartbeat: 20, ...options });

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'device-cloud-state-'));
    path = join(root, 'device-cloud', 'app');
    lines = [];
  });
  afterEach(() => rm(root, { recursive: true }));

  it('are read by the next process, for the same application alone, in files that no other user can read', async () => {
    const folder = await open();
    await folder.value('a').write({ 10000001: 'x' });
    await folder.value('b').write({});
    await folder.value('b').remove();
    assert.equal((await stat(join(path, 'a.json'))).mode & 0o777, 0o600);
    assert.equal((await stat(path)).mode & 0o777, 0o700);
    await folder.close();
    for (const [application, expected] of [
      ['1', { 10000001: 'x' }],
      ['2', undefined],
    ] as const) {
      const next = await open({ application });
      assert.deepEqual(await next.value('a').read(), expected);
      assert.equal(await next.value('b').read(), undefined);
      await next.close();
    }
    assert.deepEqual(await readdir(path), ['a.json']);
    assert.deepEqual(lines, []);
  });

  it('leave nothing behind of a process that was killed while it wrote', async () => {
    await mkdir(path, { recursive: true });
    for (const name of ['commands.jsonl.123456', 'a.json.7', 'lock.1a-2b', 'a.json', 'mine.txt'])
      await writeFile(join(path, name), '');
    const folder = await open();
    assert.deepEqual((await readdir(path)).sort(), ['a.json', 'lock', 'mine.txt']);
    await folder.close();
  });

  it('that are torn, foreign or of a later version are set aside with a line of the log each', async () => {
    const later = JSON.stringify({
      format: 'device-cloud-state',
      version: 2,
      application: '1',
      value: 1,
    });
    const texts = ['{"format":"device-cl', '', '[]', '{"other":true}', later, 'null'];
    await mkdir(path, { recursive: true });
    for (const text of texts) {
      lines = [];
      await writeFile(join(path, 'a.json'), text);
      const folder = await open();
      assert.equal(await folder.value('a').read(), undefined, text);
      assert.equal(await readFile(join(path, 'a.json.set-aside'), 'utf8'), text);
      await folder.value('a').write([1]);
      assert.deepEqual(await folder.value('a').read(), [1]);
      await folder.close();
      assert.equal(lines.length, 1);
      assert.match(lines[0]!, /a\.json\.set-aside/);
    }
    await rm(join(path, 'a.json'));
    await mkdir(join(path, 'a.json'));
    const folder = await open();
    assert.equal(await folder.value('a').read(), undefined);
    await folder.close();
  });

  it('are not read or written where the folder is a file, and a line of the log says so', async () => {
    await mkdir(join(root, 'device-cloud'));
    await writeFile(path, 'mine');
    const folder = await open();
    await folder.value('a').write({ b: 1 });
    await folder.value('a').remove();
    assert.equal(await folder.value('a').read(), undefined);
    assert.equal(await folder.journal('c'), undefined);
    const text = `Nothing is kept over a restart in ${path}: ${path} is a file. Move it away, and restart Node-RED.`;
    assert.equal(folder.problem, text);
    await folder.close();
    assert.equal(await readFile(path, 'utf8'), 'mine');
    path = join(path, 'app');
    await (await open()).close();
    assert.deepEqual(lines, [text, text.replace('device-cloud/app:', 'device-cloud/app/app:')]);
  });

  it('in a file that cannot be read work without it, say why, and leave it and the others as they are', async () => {
    await mkdir(path, { recursive: true });
    // Root may read every file, but no link to itself.
    for (const name of ['a.json', 'c.jsonl']) await symlink(name, join(path, name));
    const folder = await open();
    const value = folder.value('a', 'the pins to keep');
    assert.equal(await value.read(), undefined);
    await value.write({ n: 1 });
    assert.equal(
      value.problem,
      `Not kept over a restart: the pins to keep. ${join(path, 'a.json')} cannot be used (ELOOP: too many symbolic links ` +
        'encountered), and is left as it is. Repair it or move it away, and restart Node-RED.',
    );
    assert.equal(await folder.journal('c', 'waiting commands'), undefined);
    assert.match(lines.join(), /^Not kept over a restart: waiting commands\. .*c\.jsonl cannot/);
    for (const name of ['a.json', 'c.jsonl']) assert.equal(await readlink(join(path, name)), name);
    const other = folder.value('b');
    await other.write({ n: 2 });
    assert.deepEqual(await other.read(), { n: 2 });
    assert.deepEqual([other.problem, folder.problem], [undefined, undefined]);
    await folder.close();
  });

  it('are read once the file can be read again, if that is soon', async function () {
    if (process.platform !== 'linux') this.skip();
    const folder = await open();
    const value = folder.value('a');
    await value.write({ n: 1 });
    const file = join(path, 'a.json');
    await rename(file, join(path, 'good'));
    // A file whose reading fails with EIO.
    await symlink('/proc/self/mem', file);
    const read = value.read();
    setTimeout(() => void rename(join(path, 'good'), file), 100);
    assert.deepEqual(await read, { n: 1 });
    assert.equal(value.problem, undefined);
    await folder.close();
    assert.deepEqual(lines, []);
  });

  it('are neither read nor written, and the log says why at once, while another process may use them', async () => {
    await (await open()).close();
    const lock = '{"pid":17,"host":"elsewhere"}';
    await writeFile(join(path, 'lock'), lock);
    const closing = new AbortController();
    // The wait would outlast the test.
    const opening = open({ heartbeat: 60_000, signal: closing.signal });
    await until(() => lines.length === 1, 'the log says so');
    assert.match(lines[0]!, /^Process 17 on elsewhere has not given back .* waits 150 s/);
    closing.abort();
    const folder = await opening;
    await folder.value('a').write({ n: 1 });
    assert.equal(await folder.journal('c'), undefined);
    assert.ok(folder.problem);
    await folder.close();
    assert.deepEqual(await readdir(path), ['lock']);
    assert.equal(await readFile(join(path, 'lock'), 'utf8'), lock);
    assert.equal(lines.length, 1);
  });

  it('belong to the first of two processes, and to the second once the first has ended', async () => {
    const owner = { pid: process.ppid, host: 'here' };
    // So slow that a busy machine does not keep it from its next sign of life.
    const heartbeat = 500;
    const first = await open({ owner, heartbeat });
    await first.value('a').write({ n: 1 });
    const second = await open({ owner: { pid: 1, host: 'there' }, heartbeat });
    assert.match(second.problem!, /another process uses it/);
    await second.value('a').write({ n: 2 });
    assert.equal(await second.value('a').read(), undefined);
    await first.close();
    const third = await open({ owner: { pid: 1, host: 'there' } });
    assert.equal(third.problem, undefined);
    assert.deepEqual(await third.value('a').read(), { n: 1 });
    await Promise.all([second.close(), third.close()]);
  });

  it('are not written any more by a process that lost the folder to another', async () => {
    const first = await open({ owner: { pid: 1, host: 'here' }, heartbeat: 60_000 });
    const second = await open({ owner: { pid: 1, host: 'there' }, heartbeat: 10 });
    assert.equal(second.problem, undefined);
    await second.value('a').write({ n: 2 });
    await first.value('a').write({ n: 1 });
    assert.deepEqual(await second.value('a').read(), { n: 2 });
    assert.match(first.problem!, /another process has taken it over/);
    await Promise.all([first.close(), second.close()]);
  });

  it('that nobody has read or written for 60 days are removed, but none that is in use', async () => {
    const first = await open();
    for (const name of ['used', 'read', 'gone', 'recent']) await first.value(name).write({ name });
    await (await first.journal('commands'))?.close();
    await writeFile(join(path, 'torn.json.set-aside'), '');
    await mkdir(join(path, 'folder'));
    await first.close();
    const day = 24 * 60 * 60_000;
    for (const name of await readdir(path)) {
      const at = new Date(Date.now() - (name === 'recent.json' ? 59 : 61) * day);
      await utimes(join(path, name), at, at);
    }
    const second = await open();
    await second.journal('commands');
    second.value('used');
    assert.deepEqual(await second.value('read').read(), { name: 'read' });
    await second.close();
    const kept = ['commands.jsonl', 'folder', 'read.json', 'recent.json', 'used.json'];
    assert.deepEqual((await readdir(path)).sort(), kept);
    // What was read in the last run stays in the next, although that one does not use it.
    await (await open()).close();
    assert.ok((await readdir(path)).includes('read.json'));
  });

  it('have file names that stay in the folder, whatever the id of a node is', () => {
    assert.equal(fileNameOf('d3a1c9e27b604f58'), 'd3a1c9e27b604f58');
    const odd = ['../x', 'a/b', 'A', '', 'con.', 'x'.repeat(65), '\0', '-'];
    const names = new Set(odd.map(fileNameOf));
    assert.equal(names.size, odd.length);
    for (const name of names) assert.match(name, /^_[\da-f]{32}$/);
  });
});
