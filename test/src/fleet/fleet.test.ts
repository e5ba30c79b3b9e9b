import assert from 'node:assert/strict';
import type { ListUser } from '../../../src/fleet/list-poller';
import { KEYS, simulated } from '../support/client';
import { CHIPID } from '../support/listener';
import { DeviceCloudClient } from '../../../src/client';
import { atEnd } from '../../tooling/servers/at-end';
import { until } from '../../tooling/until';
import { inEachDialect, isPublic } from '../../tooling/dialect';

const OTHER = '10000002';

inEachDialect('the fleet of a client', () => {
  it('shows a device with its channel, its latest upload and what was recovered', async () => {
    const { service, client } = await simulated({ devices: 2 }, { random: () => 0.01 });
    const { fleet } = client;
    assert.deepEqual(fleet.snapshot(), []);
    const bodies: string[] = [];
    let first = false;
    const subscription = client.listen(
      CHIPID,
      { onUpload: ({ body }) => bodies.push(body.toString()) },
      // One upload does not show in which zone the times of a history are.
      { zone: isPublic() ? '+00:00' : undefined, save: () => (first = true) },
    );
    await until(() => first, 'a first position');
    service.upload(CHIPID, 'live');
    await until(() => bodies.length === 1, 'the live upload');
    assert.equal(fleet.latest(CHIPID)?.source, 'live');
    service.disconnect(CHIPID, 1006);
    service.upload(CHIPID, 'missed');
    await until(() => bodies.length === 2, 'the missed upload');
    await until(() => fleet.device(CHIPID)?.recovered === 1, 'the end of the recovery');
    const latest = fleet.latest(`00${CHIPID}`)!;
    assert.deepEqual([latest.body.toString(), latest.source], ['missed', 'replayed']);
    assert.ok(latest.age >= 0);
    const device = fleet.device(CHIPID)!;
    assert.deepEqual(device.channel, { state: 'connected', reason: null });
    assert.deepEqual([device.reconnects, device.listed, device.online], [1, null, null]);
    await client.devices();
    assert.equal(fleet.device(OTHER)?.listed, true);
    assert.equal(typeof fleet.name(OTHER), 'string');
    assert.deepEqual(
      [...fleet.latestAll()].map(({ chipid }) => chipid),
      [CHIPID],
    );
    subscription.release();
    assert.equal(fleet.device(CHIPID)?.channel, null);
  });

  it('polls, and reads the list on demand', async () => {
    const { client } = await simulated({ devices: 1 });
    const readings: string[][] = [];
    const stop = client.fleet.pollList(1000, {
      onReading: ({ devices }) => void readings.push([...devices.keys()]),
    });
    const { devices } = await client.fleet.readList();
    assert.deepEqual([...devices.keys()], [CHIPID]);
    await until(() => readings.length >= 2, 'a second reading');
    stop();
    for (const interval of [0, -1, 999, NaN, 1e12, '5000' as unknown as number]) {
      assert.throws(() => client.fleet.pollList(interval, {}), { code: 'INVALID_INPUT' });
    }
    const none = null as unknown as ListUser;
    assert.throws(() => client.fleet.pollList(1000, none), { code: 'INVALID_INPUT' });
  });

  it('exists without keys, and reports them as missing when the list is read or watched', async () => {
    const { appid, serverKey, serverPassword } = KEYS;
    const baseUrl = 'http://127.0.0.1:1';
    const client = new DeviceCloudClient({
      baseUrl,
      appid,
      serverKey,
      serverPassword,
      proxy: false,
    });
    atEnd(() => client.close());
    assert.deepEqual(client.fleet.snapshot(), []);
    await assert.rejects(client.fleet.readList(), { code: 'NOT_CONFIGURED' });
    assert.throws(() => client.fleet.latest('x'), { code: 'INVALID_INPUT' });
    const listener = { onEvent: () => undefined };
    assert.throws(() => client.fleet.watch({}, listener), { code: 'NOT_CONFIGURED' });
    assert.throws(() => client.fleet.watch({}, null as never), { code: 'INVALID_INPUT' });
  });
});
