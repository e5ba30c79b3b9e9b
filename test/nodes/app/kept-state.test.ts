import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import { KeptState } from '../../../nodes/app/kept-state';
import { temporaryFolder } from '../../../tooling/temporary-folder';
import { until } from '../../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { call, shows, statusesOf } from '../support/messages';
import { isKept, startCloud, useNodeRed, userDir } from '../support/node-red';

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
    const state = new KeptState(RED, nodeOf('app', 'app'), { state: 'file' });
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

  it('says once that nothing survives of the values of a node', async () => {
    const warnings: string[] = [];
    const nodeOf = (id: string): Node =>
      Object.assign(new EventEmitter(), {
        ...{ id, type: 'device-cloud-listen' },
        warn: (line: string) => warnings.push(line),
        context: () => ({}),
      }) as unknown as Node;
    const RED = { settings: {} } as unknown as NodeAPI;
    for (const kind of ['file', 'context'] as const) {
      const state = new KeptState(RED, nodeOf('app'), { state: kind });
      const listeners = [nodeOf('one'), nodeOf('two')];
      const names = ['positions', 'seen'];
      await Promise.all(
        listeners.flatMap((user) => names.map((name) => state.value('app', user, name))),
      );
      assert.equal(warnings.length, listeners.length, kind);
      for (const line of warnings.splice(0))
        assert.match(line, /^Nothing is kept over a restart: /);
    }
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
      rmSync(path);
      mkdirSync(join(path, 'in its place'), { recursive: true });
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
});
