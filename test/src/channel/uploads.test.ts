import assert from 'node:assert/strict';
import { channelService } from '../../tooling/servers/channel-service';
import { KEYS, clientOf, simulated, simulator } from '../support/client';
import { CHIPID, listen } from '../support/listener';
import { until } from '../../tooling/until';

const LONG = '18446744073709551615';

describe('the uploads of a device', () => {
  const bodies: [what: string, bytes: Buffer][] = [
    ['text', Buffer.from('grün 😀\r\n\0')],
    ['every byte', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    ['nothing', Buffer.alloc(0)],
    ['nearly as much as a frame of 16 MiB has room for', Buffer.alloc(11.9 * 1024 * 1024, 0xa5)],
  ];
  for (const [what, bytes] of bodies) {
    it(`arrive with exactly their bytes: ${what}`, async () => {
      const service = await simulator();
      const listener = listen(clientOf(service.baseUrl));
      await listener.state('connected');
      service.upload(CHIPID, bytes);
      await until(() => listener.uploads.length === 1);
      assert.deepEqual(listener.uploads[0]?.body, bytes);
      assert.deepEqual(listener.faults, []);
    });
  }

  it('arrive with device, application and time', async () => {
    const at = 1_700_000_000_000;
    const service = await simulator({ now: () => at });
    const listener = listen(clientOf(service.baseUrl), Number(CHIPID));
    await listener.state('connected');
    service.upload(CHIPID, 'x');
    await until(() => listener.uploads.length === 1);
    const { chipid, appid, timestamp } = listener.uploads[0]!;
    assert.deepEqual(
      { chipid, appid, timestamp },
      { chipid: CHIPID, appid: '10001', timestamp: at },
    );
  });

  it('arrive even if their time and application are invalid, which is reported once', async () => {
    const event = { type: 'data_upload', chipid: Number(CHIPID), appid: null, timestamp: 'now' };
    const service = await channelService((channel) => {
      for (const body of ['QQ==', 'Qg==']) channel.send(JSON.stringify({ ...event, body }));
    });
    const now = 1_720_000_000_000;
    const listener = listen(clientOf(service.baseUrl, { now: () => now }));
    await until(() => listener.uploads.length === 2);
    assert.deepEqual(listener.texts(), ['A', 'B']);
    assert.deepEqual(
      listener.uploads.map(({ timestamp, appid }) => [timestamp, appid]),
      [
        [now, KEYS.appid],
        [now, KEYS.appid],
      ],
    );
    assert.equal(listener.faults.length, 2);
    assert.match(listener.faults.join(), /no valid appid.*no valid timestamp/);
  });

  it('arrive at the listener of their own device alone', async () => {
    const { service, client } = await simulated({
      devices: [{ chipid: CHIPID }, { chipid: LONG }],
    });
    const one = listen(client, CHIPID);
    const other = listen(client, LONG);
    await one.state('connected');
    await other.state('connected');
    service.upload(CHIPID, 'one');
    service.upload(LONG, 'other');
    await until(() => one.uploads.length + other.uploads.length === 2);
    assert.deepEqual([one.texts(), other.texts()], [['one'], ['other']]);
    assert.equal(other.uploads[0]?.chipid, LONG);
  });
});

describe('the channel of a device with several listeners', () => {
  it('is a single one, and gives each its own bytes, so that one cannot change those of another', async () => {
    const { service, client } = await simulated();
    const [first, second, third] = [listen(client), listen(client), listen(client)];
    await first.state('connected');
    service.upload(CHIPID, 'abc');
    await until(() => [first, second, third].every(({ uploads }) => uploads.length === 1));
    assert.equal(service.channels(), 1);
    assert.equal(first.subscription.channel, third.subscription.channel);
    first.uploads[0]!.body.fill(0);
    second.uploads[0]!.body.fill(1);
    assert.equal(third.texts()[0], 'abc');
    assert.notEqual(first.uploads[0], second.uploads[0]);
  });
});
