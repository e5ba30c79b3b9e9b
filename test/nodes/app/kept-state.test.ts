import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import helper from 'node-red-node-test-helper';
import type { Node, NodeAPI } from 'node-red';
import { KeptState, removeLeft } from '../../../nodes/app/kept-state';
import { temporaryFolder } from '../../../tooling/temporary-folder';
import { until } from '../../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { journal } from '../support/journal';
import { arrivedAt, call, post, shows, statusesOf } from '../support/messages';
import { commandsFile, fileOf, isKept, startCloud, useNodeRed, userDir } from '../support/node-red';

describe('the kept state of an application', () => {
  it('has the last value of a node that closes in the same turn as the application', async () => {
    const userDir = temporaryFolder('kept');
    const warnings: string[] = [];
    const nodeOf = (id: string, type: string): Node =>
      Object.assign(new EventEmitter(), {
        ...{ id, type: `device-cloud-${type}` },
        warn: (line: string) => warnings.push(line),
      }) as unknown as Node;
    const user = nodeOf('listen', 'listen');
    const RED = { settings: { userDir } } as unknown as NodeAPI;
    const state = new KeptState(RED, nodeOf('app', 'app'));
    const kept = await state.value('one', user, 'positions');
    const file = join(userDir, 'device-cloud', 'app', 'listen-positions-listen.json');
    kept.write(() => ({ n: 1 }));
    await until(() => existsSync(file), 'the first value is written');
    // Within the second in which nothing is written again.
    kept.write(() => ({ n: 2 }));
    let isDone = false;
    user.emit('close', false, () => (isDone = true));
    await state.close(false);
    assert.match(readFileSync(file, 'utf8'), /"n":2/);
    assert.ok(isDone);
    assert.ok(!existsSync(join(userDir, 'device-cloud', 'app', 'lock')));
    assert.deepEqual(warnings, []);
  });

  it('says once that nothing survives, for all nodes', async () => {
    const path = join(temporaryFolder('kept'), 'a file');
    writeFileSync(path, '');
    for (const userDir of [undefined, path]) {
      const warnings: string[] = [];
      const nodeOf = (id: string): Node =>
        Object.assign(new EventEmitter(), {
          ...{ id, type: 'device-cloud-listen' },
          warn: (line: string) => warnings.push(line),
        }) as unknown as Node;
      const RED = { settings: { userDir } } as unknown as NodeAPI;
      const state = new KeptState(RED, nodeOf('app'));
      const kept = await Promise.all(
        ['one', 'two'].flatMap((id) => {
          const user = nodeOf(id);
          return ['positions', 'seen'].map((name) => state.value('app', user, name));
        }),
      );
      for (const { problem } of kept) assert.deepEqual(warnings, [problem]);
      assert.match(warnings[0]!, /^Nothing is kept over a restart/);
      await state.close(false);
    }
  });

  it('is given up at once if the application closes while another process may use its folder', async () => {
    const userDir = temporaryFolder('kept');
    const folder = join(userDir, 'device-cloud', 'app');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'lock'), '{"pid":17,"host":"elsewhere"}');
    const warnings: string[] = [];
    const nodeOf = (id: string): Node =>
      Object.assign(new EventEmitter(), {
        ...{ id, type: 'device-cloud-listen' },
        warn: (line: string) => warnings.push(line),
      }) as unknown as Node;
    const RED = { settings: { userDir } } as unknown as NodeAPI;
    const state = new KeptState(RED, nodeOf('app'));
    const value = state.value('one', nodeOf('listen'), 'positions');
    const commands = state.commands('one');
    await until(() => warnings.length > 0, 'the log says so');
    await state.close(true);
    assert.equal(await (await value).read(), undefined);
    assert.equal(await commands, undefined);
    // The other process, if there is one, goes on with it.
    assert.deepEqual(readdirSync(folder), ['lock']);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /^Process 17 on elsewhere has not given back/);
  });
});

describe('what a removed application has kept', () => {
  it('is named in the log if it cannot be removed', async () => {
    const userDir = temporaryFolder('kept');
    const path = join(userDir, 'device-cloud', 'app');
    mkdirSync(dirname(path));
    writeFileSync(path, 'a file');
    const warnings: string[] = [];
    const RED = {
      ...{ settings: { userDir }, nodes: { eachNode: () => undefined } },
      log: { warn: (line: string) => warnings.push(line) },
    };
    await removeLeft(RED as unknown as NodeAPI, ['app', 'other'], () => undefined);
    assert.equal(warnings.length, 1);
    assert.ok(warnings[0]!.startsWith(`${path} is left of an application that was removed`));
    assert.equal(readFileSync(path, 'utf8'), 'a file');
  });
});

describe('a node whose state cannot be written while it runs', () => {
  useNodeRed();
  const [chipid, ...others] = ['10000001', '10000002', '10000003'] as const;

  it('shows it in its status, until it can be written again', async () => {
    const cloud = await startCloud();
    await load([
      cloudApp(cloud),
      node('listen', { chipids: [chipid], recover: 'restart' }),
      node('events', { refresh: '1', misses: '1' }),
      node('gpio', { operation: 'keep' }),
      node('history', { incremental: true }),
    ]);
    const textOf = (id: string): string => String(statusesOf(id).at(-1)?.text);
    let level: 0 | 1 = 0;
    const change = async (devices: () => void): Promise<void> => {
      devices();
      cloud.upload(chipid, `upload ${level}`);
      await call('gpio', { chipid, pin: 5, payload: level });
      await call('history', { chipid });
      level = level === 0 ? 1 : 0;
    };
    await until(() => cloud.channels(chipid) === 1, 'the channel is open');
    // A device that sleeps before the first list is read would be none.
    await shows('events', '3/3');
    await change(() => cloud.sleep(others[0]));
    const files = {
      ...{ listen: 'listen-positions-listen', events: 'events-state-events' },
      ...{ gpio: 'gpio-pins-gpio', history: 'history-positions-history' },
    };
    await until(() => Object.values(files).every(isKept), 'all is written');
    await shows('events', '2/3');
    // As long as a folder has its place, a file cannot be written.
    const paths = Object.values(files).map((name) =>
      join(userDir, 'device-cloud', 'app', `${name}.json`),
    );
    for (const path of paths) {
      await until(() => {
        try {
          rmSync(path, { force: true });
          mkdirSync(join(path, 'in its place'), { recursive: true });
          return true;
        } catch {
          // A file that was being written meanwhile is there again.
          return false;
        }
      }, 'a folder is in its place');
    }
    await change(() => cloud.sleep(others[1]));
    for (const id of Object.keys(files)) await shows(id, 'status.not-kept');
    for (const path of paths) rmSync(path, { recursive: true });
    await change(() => others.forEach((other) => cloud.wake(other)));
    await until(() => /1\/1|pins-kept/.test(textOf('gpio')), 'gpio shows what it keeps');
    await shows('events', '3/3');
    await shows('history', undefined);
    await until(() => Object.values(files).every(isKept), 'all is written again');
  });

  it('shows it while a command waits, until that is kept again', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push', { when: 'upload' })]);
    post('push', { chipid, payload: 'kept' });
    await shows('push', 'status.awaiting-device');
    // Without its lock the folder cannot be written.
    const lock = join(dirname(commandsFile), 'lock');
    renameSync(lock, `${lock}-away`);
    post('push', { chipid, payload: 'not kept' });
    await shows('push', 'status.not-kept');
    renameSync(`${lock}-away`, lock);
    await shows('push', 'status.awaiting-device');
  });
});

describe('a node whose file cannot be read', () => {
  useNodeRed();
  const chipid = '10000001';

  it('works without it, and says so in its status and once in the log; the file stays as it is', async () => {
    const cloud = await startCloud();
    const files = {
      ...{ listen: 'listen-positions-listen', online: 'listen-seen-online' },
      ...{ events: 'events-state-events', gpio: 'gpio-pins-gpio' },
      ...{ history: 'history-positions-history' },
    };
    const paths = Object.values(files).map(fileOf);
    mkdirSync(dirname(commandsFile), { recursive: true });
    // Root may read every file, but no link to itself.
    for (const path of [...paths, commandsFile]) symlinkSync(path, path);
    await load([
      cloudApp(cloud),
      node('listen', { chipids: [chipid], recover: 'restart' }),
      { ...node('listen', { devices: 'online', recover: 'off' }), id: 'online', wires: [] },
      node('events', { refresh: '1' }),
      node('gpio', { operation: 'keep' }),
      node('history', { incremental: true }),
      node('push', { when: 'upload' }),
    ]);
    await shows('listen', 'status.not-kept');
    cloud.upload(chipid, 'upload');
    await until(
      () => arrivedAt('out').some(({ payload }) => payload === 'upload'),
      'it is emitted',
    );
    await call('gpio', { chipid, pin: 5, payload: 1 });
    for (const records of [1, 0]) {
      const { payload } = await call('history', { chipid });
      assert.equal((payload as unknown[]).length, records);
    }
    post('push', { chipid, payload: 'sent' });
    for (const id of [...Object.keys(files), 'push']) await shows(id, 'status.not-kept');
    cloud.upload(chipid, 'awake');
    await until(() => cloud.device(chipid).received.length === 1, 'the command is sent');
    const lines = journal.logs.map(({ msg }) => String(msg));
    for (const path of [...paths, commandsFile])
      assert.equal(lines.filter((line) => line.includes(`${path} cannot be used`)).length, 1, path);
    await helper.unload();
    for (const path of [...paths, commandsFile]) assert.equal(readlinkSync(path), path);
  });
});
