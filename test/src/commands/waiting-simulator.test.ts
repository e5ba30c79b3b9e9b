import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientOf, simulator } from '../support/client';
import { failure } from '../support/failure';
import { CHIPID } from '../support/listener';
import type { Simulator } from '../../../src/simulator';
import type { Upload } from '../../../src/types';
import { until } from '../../tooling/until';
import { inEachDialect } from '../../tooling/dialect';

/** A device that sleeps, and a client. */
async function asleep(options: Parameters<typeof simulator>[0] = {}) {
  const service = await simulator({ devices: 1, offlineAfter: 50, ...options });
  service.switchOff(CHIPID);
  return { service, client: clientOf(service.baseUrl) };
}

const received = (service: Simulator): string[] =>
  service.device(CHIPID).received.map(({ text }) => text);

inEachDialect('a command for a device that sleeps', () => {
  it('is not sent for an upload that is replayed', async () => {
    const { service, client } = await asleep();
    service.switchOn(CHIPID);
    let isReady = false;
    const replayed: string[] = [];
    const onUpload = (upload: Upload): void => {
      if (upload.replayed) replayed.push(upload.body.toString());
    };
    client.listen(CHIPID, { onUpload }, { save: () => (isReady = true) });
    await until(() => isReady, 'a first position');
    const held = client.push(CHIPID, 'later', { when: 'upload' });
    service.disconnect(CHIPID, 1006);
    service.upload(CHIPID, 'missed');
    await until(() => replayed.length === 1);
    assert.deepEqual(received(service), []);
    service.upload(CHIPID, 'live');
    await held;
    assert.deepEqual(received(service), ['later']);
  });

  it('that got no answer shows the device as offline until the list, an upload or an answer shows it', async () => {
    const { service, client } = await asleep({ offlineAfter: 60_000 });
    const online = () => client.fleet.device(CHIPID)?.online;
    const shows: [name: string, show: () => Promise<unknown>][] = [
      ['the list', () => client.devices()],
      ['an answer', () => client.gpioStatus(CHIPID)],
    ];
    for (const [name, show] of shows) {
      service.switchOff(CHIPID);
      await assert.rejects(client.push(CHIPID, 'x', { timeout: 300 }));
      assert.equal(online(), false);
      service.switchOn(CHIPID);
      // A list that was asked for in the millisecond of the answer may be older.
      await sleep(2);
      await show();
      assert.equal(online(), true, name);
    }
  });

  it('is refused at once if its expiry is invalid', async () => {
    const { service, client } = await asleep();
    for (const expires of [0, -1, Infinity, '60' as unknown as number])
      await failure(client.reboot(CHIPID, { when: 'upload', expires }), 'NOT_CONFIGURED');
    assert.equal(service.sockets(), 0);
  });

  it('cannot be a push to all devices or over the channel', async () => {
    const { client } = await asleep();
    const options = { when: 'online' } as const;
    await failure(client.pushToApp('x', options), 'INVALID_INPUT');
    await failure(client.pushOverChannel(CHIPID, 'x', options), 'INVALID_INPUT');
  });
});
