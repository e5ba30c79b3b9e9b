import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mock } from 'node:test';
import { Files } from '../../../src/store/files';
import { Store } from '../../../src/store/store';
import { manual } from '../support/manual';
import { temporaryFolder } from '../../tooling/temporary-folder';
import { until } from '../../tooling/until';

/** A process that may open more has no limit that a test can reach. */
const MOST_HANDLES = 100_000;

describe('the files of a store', () => {
  let path: string;
  let lines: string[];
  let time: number;
  const open = (of = 'one'): Store =>
    new Store(new Files(path, { of: () => of, log: (line) => lines.push(line), now: () => time }));
  const loaded = async (of?: string): Promise<Store> => {
    const store = open(of);
    await store.loaded;
    return store;
  };
  const names = (part = ''): string[] => readdirSync(path).filter((name) => name.includes(part));

  beforeEach(() => {
    path = join(temporaryFolder('store'), 'device-cloud', 'app');
    lines = [];
    time = 0;
  });

  it('are one for each kind and one for each command, for their owner alone, and read as they were written', async () => {
    const store = open();
    const command = { node: 'push', what: { text: 'ß' } };
    await Promise.all([
      ...[store.set('pin:1:5', { wanted: 1 }), store.set('position:a:1', { id: '7' })],
      ...[store.set('command:1:x', command), store.set('command:2:../y', command)],
    ]);
    assert.deepEqual([names('.waiting.json').length, names('.begun.json').length], [2, 0]);
    if (process.platform !== 'win32')
      for (const name of ['pin.json', 'position.json', ...names('waiting')])
        assert.equal(statSync(join(path, name)).mode & 0o777, 0o600);
    const again = await loaded();
    assert.deepEqual(again.list('pin:'), [['pin:1:5', { wanted: 1 }]]);
    assert.deepEqual(
      again
        .list('command:')
        .map(([key]) => key)
        .sort(),
      ['command:1:x', 'command:2:../y'],
    );
    // Of another application, commands end; all else is not used.
    const other = await loaded('two');
    assert.deepEqual([other.list('pin:').length, other.list('command:').length], [0, 2]);
    assert.deepEqual(lines, []);
  });

  it('of a command are renamed when it begins, which one process alone can do, and removed when it ends', async () => {
    const store = open();
    await store.set('command:1:x', { n: 1 });
    const other = await loaded();
    assert.equal(await store.set('command:1:x', { n: 1, isBegun: true }), true);
    assert.deepEqual([names('.waiting').length, names('.begun').length], [0, 1]);
    assert.equal(await other.set('command:1:x', { n: 1, isBegun: true }), false);
    assert.equal(other.get('command:1:x'), undefined);
    assert.deepEqual((await loaded()).get('command:1:x'), { n: 1, isBegun: true });
    await store.set('command:1:x', { n: 1, isBegun: true, end: { result: 5 } });
    assert.deepEqual((await loaded()).get('command:1:x'), {
      ...{ n: 1, isBegun: true, end: { result: 5 } },
    });
    await store.set('command:1:x', undefined);
    assert.deepEqual(names(), []);
  });

  for (const [what, make] of [
    ['torn', (file: string) => truncateSync(file, 30)],
    ['zeroed', (file: string) => writeFileSync(file, Buffer.alloc(100))],
    ['foreign', (file: string) => writeFileSync(file, '{"format":"other"}')],
    [
      'of a later version',
      (file: string) => writeFileSync(file, '{"format":"device-cloud 2","entries":{}}'),
    ],
    ['endless', (file: string) => truncateSync(file, 60 * 2 ** 20)],
    ['a folder', (file: string) => (rmSync(file), mkdirSync(file))],
    ['a link', (file: string) => (rmSync(file), symlinkSync('/dev/zero', file))],
    ['a pipe', (file: string) => (rmSync(file), execFileSync('mkfifo', [file]))],
  ] as const)
    it(`that are ${what} are set aside, with a line of the log, and cost themselves alone`, async function () {
      if (process.platform === 'win32' && /link|pipe/.test(what)) this.skip();
      const store = open();
      await Promise.all([
        ...[store.set('pin:1:5', 1), store.set('position:a:1', 2)],
        ...[store.set('command:1:x', {}), store.set('command:1:y', {})],
      ]);
      for (const file of ['pin.json', String(names('.waiting')[0])]) make(join(path, file));
      const again = await loaded();
      assert.deepEqual(
        ['pin:', 'position:', 'command:'].map((kind) => again.list(kind).length),
        [0, 1, 1],
      );
      assert.equal(lines.length, 2);
      for (const line of lines) assert.match(line, /is not used: .* It is now called .*\.bad\.$/);
      await again.set('pin:1:6', 1);
      assert.equal(names().filter((name) => name.startsWith('pin.json')).length, 2);
    });

  it('of commands that begin at the same time are all renamed before the folder is synced', async () => {
    const store = await loaded();
    const keys = Array.from({ length: 40 }, (_, n) => `command:${n}:x`);
    await Promise.all(keys.map((key) => store.set(key, {})));
    const sample = await openFile(path);
    const synced = manual();
    const { mock: syncs } = mock.method(
      Object.getPrototypeOf(sample) as typeof sample,
      'sync',
      () => synced.promise,
    );
    await sample.close();
    try {
      const begun = Promise.all(keys.map((key) => store.set(key, { isBegun: true })));
      await until(() => names('.begun').length === keys.length, 'all are renamed');
      synced.resolve();
      assert.ok((await begun).every(Boolean));
      assert.ok(syncs.callCount() <= 2, `${syncs.callCount()} syncs`);
    } finally {
      syncs.restore();
    }
    await store.close();
  });

  it('lose no entry to one that is malformed', async () => {
    const store = open();
    await Promise.all([store.set('pin:1:5', 1), store.set('command:1:x', {})]);
    const file = join(path, 'pin.json');
    const { entries, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as { entries: object };
    writeFileSync(
      file,
      JSON.stringify({ ...rest, entries: { ...entries, '': 1, 'position:1': 2 } }),
    );
    for (const [name, own] of Object.entries({
      a: {},
      b: { 'command:1:y': 5 },
      c: { 'pin:1:1': 1 },
    }))
      writeFileSync(join(path, `${name}.waiting.json`), JSON.stringify({ ...rest, entries: own }));
    const again = await loaded();
    assert.deepEqual(
      [again.list('pin:').length, again.list('position:'), again.list('command:').length],
      [1, [], 1],
    );
    assert.deepEqual(lines, []);
  });

  it('show that another process uses the folder: nothing is written until that has been quiet for a minute', async () => {
    const store = open();
    await Promise.all([store.set('pin:1:5', 1), store.set('command:1:x', {})]);
    const other = await loaded();
    await other.set('pin:1:6', 2);
    assert.equal(await store.set('pin:1:5', 3), false);
    assert.match(String(store.problem), /another Node-RED uses it/);
    // What it has not found itself goes on.
    assert.equal(await store.set('command:1:y', {}), true);
    assert.deepEqual((await loaded()).list('pin:'), [
      ['pin:1:5', 1],
      ['pin:1:6', 2],
    ]);
    const third = await loaded();
    await store.set('pin:1:5', 3);
    time += 30_000;
    const file = join(path, 'pin.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"write":"/, '$&by hand '));
    assert.equal(await third.set('pin:1:5', 4), false);
    assert.equal(await third.set('command:1:x', { isBegun: true }), false, 'one that was restored');
    await third.close();
    const isQuiet = (): boolean => (time += 60_001) > 0 && store.problem === undefined;
    await until(isQuiet, 'it is written again');
    assert.deepEqual((await loaded()).list('pin:')[0], ['pin:1:5', 3]);
    await Promise.all([store, other].map((each) => each.close()));
  });

  it("stay this process's own where a share changes their time or inode later", async () => {
    const store = open();
    await store.set('pin:1:5', 1);
    const again = await loaded();
    const file = join(path, 'pin.json');
    for (const [level, change] of [
      () => utimesSync(file, 1, 1),
      () => {
        writeFileSync(`${file}.copy`, readFileSync(file));
        renameSync(`${file}.copy`, file);
      },
    ].entries()) {
      change();
      assert.equal(await again.set('pin:1:5', level), true, String(again.problem));
    }
    // A write that was reported as failed may be on the disk, and one that was not may be gone.
    const before = readFileSync(file);
    assert.equal(await again.set('pin:1:5', 7), true);
    writeFileSync(file, before);
    assert.equal(await again.set('pin:1:5', 8), true, String(again.problem));
    await again.close();
    assert.equal(await store.set('pin:1:5', 9), false, 'of another process they are not');
    await store.close();
  });

  it('are written once that is possible, after a while without', async () => {
    const store = open();
    await store.set('pin:1:5', 1);
    renameSync(path, `${path}-away`);
    writeFileSync(path, 'a file');
    assert.equal(await store.set('pin:1:5', 2), false);
    assert.equal(await store.set('command:1:x', {}), false);
    assert.match(
      String(store.problem),
      /does not survive a restart, since .* cannot be written: \w+/,
    );
    rmSync(path);
    await until(() => store.problem === undefined, 'all is written');
    const again = await loaded();
    assert.deepEqual([again.get('pin:1:5'), again.list('command:').length], [2, 1]);
  });

  it('are read and written again after a while without a file handle: positions, levels, commands', async () => {
    const store = open();
    await store.set('position:a:1', 1);
    const [file, handles] = [join(path, 'position.json'), [] as number[]];
    try {
      while (handles.length < MOST_HANDLES) handles.push(openSync(file, 'r'));
      for (const handle of handles) closeSync(handle);
      process.stdout.write('  without a limit of open files, left out\n');
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EMFILE') throw error;
    }
    const started = open();
    const loading = started.loaded;
    store.update('position:a:1', 2);
    const written = await Promise.all([store.set('pin:1:5', 1), store.set('command:1:x', {})]);
    await until(() => started.problem !== undefined, 'it cannot be read either');
    for (const handle of handles) closeSync(handle);
    assert.deepEqual(written, [false, false]);
    for (const { problem } of [store, started]) assert.match(String(problem), /EMFILE/);
    await loading;
    const keys = ['position:a:1', 'pin:1:5', 'command:1:x'];
    await until(
      () => keys.every((key) => store.isWritten(key)) && !started.problem,
      'it is written',
    );
    // It has read the file before or after it was written again.
    assert.match(String(started.get('position:a:1')), /^[12]$/);
    const again = await loaded();
    assert.deepEqual(
      [again.get('position:a:1'), again.get('pin:1:5'), again.list('command:').length],
      [2, 1, 1],
    );
  });

  it('that were left unfinished are removed; nothing is made before something is kept', async () => {
    const empty = await loaded();
    await empty.close();
    assert.ok(!existsSync(path));
    const store = open();
    await store.set('command:1:x', {});
    const [command = ''] = names();
    for (const name of ['pin.json.123456', `${command}.7`]) writeFileSync(join(path, name), '{');
    await loaded();
    assert.deepEqual(names(), [command]);
  });
});
