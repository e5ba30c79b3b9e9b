import assert from 'node:assert/strict';
import { clientOf, simulator } from '../../support/client';
import { listen } from '../../support/listener';
import { DeviceCloudClient } from '../../../../src/client';
import type { Watch } from '../../../../src/fleet/watch/watch';
import type { FleetEvent, WatchOptions } from '../../../../src/fleet/watch/watch-types';
import { atEnd } from '../../../tooling/servers/at-end';
import { until } from '../../../tooling/until';
import { inEachDialect } from '../../../tooling/dialect';

const HUGE = '12345678901234567890';

/** Watches, and waits until the list has been read. */
async function watch(client: DeviceCloudClient, options: WatchOptions = {}) {
  const events: FleetEvent[] = [];
  let readings = 0;
  const started: Watch = client.fleet.watch(
    { refresh: 1000, misses: 1, ...options },
    { onEvent: (event) => events.push(event), onReading: () => readings++ },
  );
  atEnd(() => Promise.resolve(started.close()));
  await until(() => readings > 0, 'a first reading');
  return {
    watch: started,
    events,
    readings: () => readings,
    emitted: () => events.map(({ event, chipid }) => `${event} ${chipid}`),
  };
}

inEachDialect('a watch over real connections', () => {
  it('notices that a device falls asleep, and by its upload that it wakes, before the next reading', async () => {
    const service = await simulator({ devices: [{ chipid: HUGE, name: 'Pump' }, { chipid: 2 }] });
    const client = clientOf(service.baseUrl);
    await listen(client, HUGE).state('connected');
    const { events, emitted } = await watch(client);
    service.sleep(HUGE);
    await until(() => events.length === 1, 'it is offline');
    // No reading can show it.
    service.fail('hang', { path: 'devices/list' });
    service.wake(HUGE);
    await until(() => events.length === 2, 'it is online');
    assert.deepEqual(emitted(), [`offline ${HUGE}`, `online ${HUGE}`]);
    assert.equal(events[1]?.name, 'Pump');
    assert.equal(typeof events[1]?.lastUpload, 'number');
  });

  it('notices that a channel is lost and comes back, and how much was recovered', async () => {
    const service = await simulator({ devices: 1 });
    const client = clientOf(service.baseUrl, { random: () => 0.01 });
    const chipid = [...service.devices.keys()][0]!;
    let saved = false;
    const uploads: string[] = [];
    client.listen(
      chipid,
      { onUpload: ({ body }) => uploads.push(body.toString()) },
      { save: () => (saved = true) },
    );
    await until(() => saved, 'a first position');
    const { events, emitted } = await watch(client, {
      events: ['channel', 'recovery'],
      settle: 50,
    });
    const lift = service.fail('reset-upgrade');
    service.disconnect(chipid);
    await until(() => events.length === 1, 'it is disconnected');
    assert.equal(typeof events[0]?.reason, 'string');
    service.upload(chipid, 'missed');
    lift();
    await until(() => emitted().includes(`recovered ${chipid}`), 'it has recovered');
    assert.deepEqual(emitted().sort(), [
      `connected ${chipid}`,
      `disconnected ${chipid}`,
      `recovered ${chipid}`,
      `recovering ${chipid}`,
    ]);
    assert.equal(events.find(({ event }) => event === 'recovered')?.count, 1);
    assert.deepEqual(uploads, ['missed']);
  });

  it('shares its readings with another one, at the shorter of both intervals', async () => {
    const service = await simulator({ devices: 1 });
    const client = clientOf(service.baseUrl);
    const slow = await watch(client, { refresh: 3_600_000 });
    const fast = await watch(client, { refresh: 1000 });
    const lead = slow.readings() - fast.readings();
    service.sleep([...service.devices.keys()][0]!);
    await until(() => slow.events.length === 1 && fast.events.length === 1, 'both see it');
    assert.equal(slow.readings() - fast.readings(), lead);
  });

  it('needs the keys of the open API, and a listener', () => {
    const client = new DeviceCloudClient({ baseUrl: 'http://127.0.0.1:1' });
    assert.throws(() => client.fleet.watch({}, { onEvent: () => undefined }), {
      code: 'NOT_CONFIGURED',
    });
    assert.throws(() => client.fleet.watch({}, null as never), { code: 'INVALID_INPUT' });
  });
});
