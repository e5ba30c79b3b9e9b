import assert from 'node:assert/strict';
import { cloudApp, load, node } from './support/flow';
import { arrivedAt, call, fail, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('the name of a device', () => {
  useNodeRed();
  const chipid = '10000001';

  it('is added to each message about it once a list contains it', async () => {
    const cloud = await startCloud({ devices: [{ chipid, name: 'pump' }] });
    const listen = node('listen', { chipids: [chipid] });
    const history = { id: 'split', split: true, operation: 'sync' };
    const ask = { match: 'property', property: 'id', equals: '7', equalsType: 'num' };
    const nodes = [node('push'), node('devices'), node('history', history), listen];
    nodes.push(node('request', ask), node('history', { id: 'uploads' }));
    await load([cloudApp(cloud), ...nodes]);
    await shows('listen', 'status.connected');
    assert.ok(!('name' in (await call('push', { chipid, payload: 'x' }))));
    await call('devices', {});
    assert.equal((await call('push', { chipid, payload: 'x' }))['name'], 'pump');
    assert.equal((await call('push', { chipid, payload: 'x', name: 'my own' }))['name'], 'my own');
    assert.equal(
      (await call('request', { chipid, payload: { get: 'rssi', id: 7 } }))['name'],
      'pump',
    );
    for (const path of ['dev/push', 'up_messages']) cloud.fail('not-found', { path });
    for (const id of ['push', 'request', 'uploads']) {
      assert.equal((await fail(id, { chipid, payload: 'x' }, 'NOT_FOUND'))['name'], 'pump');
    }
    cloud.heal();
    cloud.upload(chipid, 'live');
    const live = () => arrivedAt('out').find(({ payload }) => payload === 'live');
    await until(() => live() !== undefined, 'the upload arrives');
    assert.equal(live()?.['name'], 'pump');
    const day = new Date();
    assert.equal((await call('split', { begin: day, end: day }))['name'], 'pump');
  });

  it('is never that of a device that the message was about before', async () => {
    const other = '10000002';
    const unnamed = '10000003';
    const cloud = await startCloud({
      devices: [{ chipid, name: 'pump' }, { chipid: other, name: 'lamp' }, { chipid: unnamed }],
    });
    const listen = node('listen', { chipids: [chipid], wires: [['chosen', 'named']] });
    const chosen = node('push', { id: 'chosen', chipid: other, chipidType: 'str' });
    await load([cloudApp(cloud), node('devices'), listen, chosen, node('push', { id: 'named' })]);
    await shows('listen', 'status.connected');
    await call('devices', {});
    cloud.upload(chipid, 'live');
    const sent = (id: string) => arrivedAt('out').find((each) => each['chipid'] === id);
    await until(() => sent(other) !== undefined && sent(chipid) !== undefined, 'both are pushed');
    assert.equal(sent(other)?.['name'], 'lamp');
    assert.equal(sent(chipid)?.['name'], 'pump');
    // As a change node leaves an upload of the first device.
    const upload = { topic: chipid, name: 'pump', payload: 'x' };
    assert.equal((await call('named', { ...upload, chipid: other }))['name'], 'lamp');
    assert.equal((await call('named', { ...upload, chipid: unnamed }))['name'], undefined);
    assert.equal((await call('named', { ...upload, topic: 't', chipid: other }))['name'], 'pump');
    cloud.fail('not-found', { path: 'dev/push' });
    const failed = await fail('named', { ...upload, chipid: other }, 'NOT_FOUND');
    assert.equal(failed['name'], 'lamp');
  });
});
