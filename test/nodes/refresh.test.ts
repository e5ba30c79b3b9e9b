import assert from 'node:assert/strict';
import { CONNECTIONS } from '../../src/http/pool';
import { cloudApp, load, node } from './support/flow';
import { call, fail, post } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('the refresh node', () => {
  useNodeRed();

  it('reports an online device', async () => {
    const cloud = await startWith(node('refresh'));
    const { _msgid, ...out } = await call('refresh', { chipid: 10000001, topic: 't' });
    assert.ok(_msgid);
    const payload = { status: 'online', msg: 'OK' };
    const rest = { chipid: '10000001', topic: 't', statusCode: 200 };
    assert.deepEqual(out, { ...rest, payload, online: true });
    assert.equal(cloud.requests[0]?.path, '/openapi/manual_refresh/10000001/');
  });

  it('reports an offline device as a success', async () => {
    const cloud = await startCloud();
    cloud.switchOff('10000001');
    await load([cloudApp(cloud), node('refresh')]);
    const out = await call('refresh', { chipid: '10000001', online: 'from before' });
    assert.equal(out['online'], false);
    assert.equal(out['statusCode'], 200);
    assert.notEqual((out.payload as { status: string }).status, 'online');
  });

  it('fails with INVALID_RESPONSE without a status, whatever the node does with no answer', async () => {
    const cloud = await startCloud();
    const answer = node('refresh', { id: 'answer', offline: 'answer' });
    await load([cloudApp(cloud), node('refresh'), answer]);
    cloud.fail('object');
    for (const id of ['refresh', 'answer']) {
      const caught = await fail(id, { chipid: '10000001' }, 'INVALID_RESPONSE');
      assert.equal('online' in caught, false);
    }
  });

  it('outputs a missing answer of the device as offline, if configured', async () => {
    const cloud = await startCloud();
    const hasty = node('refresh', { id: 'hasty', offline: 'answer', timeout: 0.3 });
    await load([cloudApp(cloud), node('refresh', { offline: 'answer' }), hasty]);
    const lift = cloud.fail('gateway');
    const gateway = await call('refresh', { chipid: '10000001' });
    assert.deepEqual([gateway['online'], gateway['statusCode']], [false, 502]);
    const { status, msg } = gateway.payload as { status: unknown; msg: string };
    assert.equal(status, null);
    assert.match(msg, /502.*10000001/);
    lift();
    cloud.fail('hang');
    const silent = await call('hasty', { chipid: '10000001', statusCode: 200 });
    assert.equal(silent['online'], false);
    assert.ok(!('statusCode' in silent));
    cloud.heal();
    cloud.fail('not-found');
    await fail('refresh', { chipid: '10000001' }, 'NOT_FOUND');
  });

  it('outputs a missing answer as offline only for a call that was sent', async () => {
    const cloud = await startCloud();
    const slow = node('refresh', { id: 'slow', timeout: 60 });
    await load([cloudApp(cloud), slow, node('refresh', { offline: 'answer', timeout: 0.1 })]);
    cloud.fail('hang');
    for (let other = 1; other <= CONNECTIONS; other++) post('slow', { chipid: other });
    await until(() => cloud.requests.length === CONNECTIONS, 'all connections are taken');
    await fail('refresh', { chipid: '10000001' }, 'TIMEOUT');
  });
});
