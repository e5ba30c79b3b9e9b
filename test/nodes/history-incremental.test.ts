import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { httpService, json } from '../src/support/http-service';
import {
  configureContextStore,
  configureSlowContextStore,
  holdContextStore,
} from './support/context';
import { cloudApp, deploy, load, node } from './support/flow';
import { arrivedAt, call, fail, send } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from './support/until';

describe('history, only what is new', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';
  const incremental = (properties: object = {}) =>
    node('history', { incremental: true, ...properties });

  async function start(properties: object = {}, options: object = {}): Promise<void> {
    cloud = await startCloud(options);
    await load([cloudApp(cloud), incremental(properties), node('push', { wires: [] })]);
  }
  const read = async (msg: object = { chipid }): Promise<unknown[]> => {
    const { payload } = await call('history', { ...msg });
    return (payload as { body: unknown }[]).map(({ body }) => body);
  };

  for (const historyOrder of ['oldest-first', 'newest-first']) {
    it(`gives each record once when the service sends the ${historyOrder}`, async () => {
      await start({}, { historyOrder });
      cloud.upload(chipid, 'a');
      cloud.upload(chipid, 'b');
      assert.deepEqual((await read()).sort(), ['a', 'b']);
      assert.deepEqual(await read(), []);
      cloud.upload(chipid, 'a');
      assert.deepEqual(await read(), ['a']);
      assert.deepEqual(await read(), []);
    });
  }

  it('keeps a position for each device, and for pushes and uploads', async () => {
    cloud = await startCloud();
    const both = [incremental(), incremental({ id: 'pushes', operation: 'pushes' })];
    await load([cloudApp(cloud), ...both, node('push', { wires: [] })]);
    cloud.upload('10000001', 'one');
    cloud.upload('10000002', 'two');
    assert.deepEqual(await read({ chipid: '10000002' }), ['two']);
    assert.deepEqual(await read({ chipid: 10000001 }), ['one']);
    assert.deepEqual(await read({ chipid: '10000001' }), []);
    await send('push', { chipid, payload: 'x' });
    const first = await call('pushes', { chipid });
    assert.equal((first.payload as unknown[]).length, 1);
    assert.deepEqual((await call('pushes', { chipid })).payload, []);
  });

  it('gives each upload between two days once', async () => {
    await start({ operation: 'sync' });
    const day = 24 * 60 * 60 * 1000;
    const period = { begin: Date.now() - day, end: Date.now() + day };
    cloud.upload('10000001', 'a');
    cloud.upload('10000002', 'b');
    assert.deepEqual(await read(period), ['a', 'b']);
    cloud.upload('10000001', 'c');
    assert.deepEqual(await read(period), ['c']);
  });

  it('gives no record twice to messages that come quickly one after the other', async () => {
    await start({ split: true });
    for (let n = 0; n < 5; n++) cloud.upload(chipid, String(n));
    await configureSlowContextStore();
    const letGo = holdContextStore();
    const sent = [1, 2, 3, 4].map(() => send('history', { chipid }));
    await until('the first has its answer', () => cloud.requests[0]?.status === 200);
    await send('push', { chipid, payload: 'for the others to have theirs, were they asked' });
    letGo();
    await Promise.all(sent);
    await until('the records arrive', () => arrivedAt('out').length >= 5);
    assert.deepEqual(
      arrivedAt('out').map(({ payload }) => payload),
      ['0', '1', '2', '3', '4'],
    );
  });

  it('goes on where it was after a redeploy, if there is a context store', async () => {
    await start();
    await configureContextStore();
    cloud.upload(chipid, 'before');
    assert.deepEqual(await read(), ['before']);
    cloud.upload(chipid, 'meanwhile');
    await deploy([cloudApp(cloud), incremental({ name: 'changed' })]);
    assert.deepEqual(await read(), ['meanwhile']);
  });

  it('loses no record to a reading that fails', async () => {
    await start({ datatype: 'json' });
    cloud.upload(chipid, '1');
    assert.deepEqual(await read(), [1]);
    cloud.upload(chipid, '2');
    cloud.fail('bad-request', { times: 1 });
    await fail('history', { chipid }, 'BAD_REQUEST');
    assert.deepEqual(await read(), [2]);
    cloud.upload(chipid, '3');
    cloud.upload(chipid, 'no JSON');
    await fail('history', { chipid }, 'INVALID_RESPONSE');
    await fail('history', { chipid }, 'INVALID_RESPONSE');
  });

  it('reads everything each time when it is off', async () => {
    await start({ incremental: false });
    cloud.upload(chipid, 'a');
    assert.deepEqual(await read(), ['a']);
    assert.deepEqual(await read(), ['a']);
  });

  it('cannot be told when the ids are no numbers, and says so', async () => {
    const service = await httpService(json([{ id: 'a1', body: 'x' }]));
    await load([cloudApp({ ...service, appid: '1' }), incremental()]);
    const { error } = await fail('history', { chipid }, 'INVALID_RESPONSE');
    assert.match(error.message, /ids.*not numbers.*Turn off/);
  });
});
