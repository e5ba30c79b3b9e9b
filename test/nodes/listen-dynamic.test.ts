import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { arrivedAt, call, fail, send, shows } from './support/messages';
import { startWith, stateFolder, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('a listener that is controlled by messages', () => {
  useNodeRed();
  let cloud: Simulator;
  const [one, two, three] = ['10000001', '10000002', '10000003'] as const;

  beforeEach(async () => {
    cloud = await startWith(node('listen', { devices: 'dynamic' }));
  });

  const tell = async (action: unknown, chipid?: unknown): Promise<void> => {
    const { error } = await send('listen', { action, chipid });
    assert.equal(error, undefined);
  };
  const listed = async (): Promise<unknown> => (await call('listen', { action: 'list' })).payload;
  const channels = (...chipids: string[]): Promise<void> =>
    until(() => {
      const open = [one, two, three].filter((chipid) => cloud.channels(chipid) === 1);
      return cloud.channels() === chipids.length && open.join() === chipids.join();
    }, `the channels are those of ${chipids.join()}`);

  it('listens to no device at first', async () => {
    await shows('listen', 'status.no-devices');
    assert.deepEqual(await listed(), []);
    assert.equal(cloud.requests.length, 0);
  });

  it('subscribes and unsubscribes: a number, a string, an array', async () => {
    await tell('subscribe', 10000001);
    await channels(one);
    await tell('subscribe', [two, 10000003, one]);
    await channels(one, two, three);
    assert.deepEqual(await listed(), [one, two, three]);
    await tell('unsubscribe', two);
    await channels(one, three);
    await tell('unsubscribe', [10000003, '5']);
    await tell('subscribe', []);
    await channels(one);
    assert.deepEqual(await listed(), [one]);
    cloud.upload(one, 'x');
    cloud.upload(two, 'not any more');
    cloud.upload(one, 'y');
    await until(() => arrivedAt('out').some(({ payload }) => payload === 'y'), 'both are emitted');
    const emitted = arrivedAt('out').filter(({ action }) => action !== 'list');
    assert.deepEqual(
      emitted.map(({ payload }) => payload),
      ['x', 'y'],
    );
  });

  it('answers with the devices that messages have subscribed to, and goes on with them after a restart', async () => {
    await tell('subscribe', [two, one, three]);
    await tell('unsubscribe', two);
    const list = await call('listen', { action: 'list', payload: 'old', deep: { a: 1 } });
    assert.deepEqual([list.payload, list['deep']], [[one, three], { a: 1 }]);
    await helper.unload();
    await load([cloudApp(cloud), node('listen', { devices: 'dynamic' })]);
    await channels(one, three);
    assert.deepEqual(await listed(), [one, three]);
  });

  it('goes on with them where an entry of the file is no device', async () => {
    await tell('subscribe', one);
    await helper.unload();
    const path = join(stateFolder, 'subscribed.json');
    const text = readFileSync(path, 'utf8');
    const gate = text.replace('{"subscribed:', '{"subscribed:listen:gate":true,"subscribed:');
    assert.notEqual(gate, text);
    writeFileSync(path, gate);
    await load([cloudApp(cloud), node('listen', { devices: 'dynamic' })]);
    await channels(one);
    await shows('listen', 'status.connected');
  });

  it('refuses an invalid chip number, and changes nothing', async () => {
    await tell('subscribe', one);
    await channels(one);
    for (const chipid of [undefined, null, '', 1.5, '../x', {}]) {
      await fail('listen', { action: 'subscribe', chipid }, 'INVALID_INPUT');
      await fail('listen', { action: 'unsubscribe', chipid: [one, chipid] }, 'INVALID_INPUT');
    }
    await fail('listen', { action: 'subscribe', chipid: [two, [three]] }, 'INVALID_INPUT');
    assert.deepEqual(await listed(), [one]);
    assert.equal(cloud.requests.filter(({ path }) => path === '/noticed/peer').length, 1);
  });

  it('refuses every other action', async () => {
    const actions = [undefined, null, '', 'Subscribe', 'close', 5, {}, ['list'], '__proto__'];
    for (const action of [...actions, 'constructor', 'toString']) {
      await fail('listen', { action, chipid: one }, 'INVALID_INPUT');
    }
    assert.deepEqual(await listed(), []);
  });
});
