import assert from 'node:assert/strict';
import { channelService } from './support/channel-service';
import { clientOf, simulator } from './support/client';
import { CHIPID, listen } from './support/listener';
import { until } from './support/until';

const HEARTBEAT = '{"type":"heartbeat"}';

describe('a channel that is kept alive', () => {
  it('sends the heartbeat of section 6, again and again', async () => {
    const service = await channelService();
    await listen(clientOf(service.baseUrl, { heartbeat: 0.02 })).state('connected');
    await until(() => service.frames.length >= 3, 'three heartbeats');
    assert.ok(service.frames.every((frame) => frame === HEARTBEAT));
  });

  it('sends none if they are off', async () => {
    const service = await channelService();
    const client = clientOf(service.baseUrl, { heartbeat: 0 });
    await listen(client).state('connected');
    await client.pushOverChannel(CHIPID, 'x');
    await until(() => service.frames.length === 1);
    assert.doesNotMatch(service.frames[0]!, /heartbeat/);
  });

  it('pings, again and again', async () => {
    let pings = 0;
    const service = await channelService((channel) => channel.on('ping', () => pings++));
    const listener = listen(clientOf(service.baseUrl, { ping: 0.02 }));
    await until(() => pings >= 5, 'five pings');
    assert.equal(listener.changes.filter(({ state }) => state === 'disconnected').length, 0);
  });

  it('answers the pings of the service', async () => {
    let pongs = 0;
    const service = await channelService((channel) => {
      channel.on('pong', () => pongs++);
      channel.ping('are you there');
    });
    listen(clientOf(service.baseUrl));
    await until(() => pongs === 1, 'the pong');
    assert.equal(service.opened(), 1);
  });

  it('is given up when the service falls silent, and opened anew', async () => {
    const service = await simulator();
    service.fail('silence', { chipid: CHIPID });
    const listener = listen(clientOf(service.baseUrl, { ping: 0.02, heartbeat: 0 }));
    await listener.state('disconnected');
    assert.deepEqual(
      listener.changes.find(({ state }) => state === 'disconnected'),
      { state: 'disconnected', reason: 'SILENT' },
    );
    service.heal();
    await listener.state('connected', 2);
    await until(() => service.channels() === 1, 'the end of the silent one');
    service.upload(CHIPID, 'after');
    await until(() => listener.texts().includes('after'));
  });

  it('is not given up while uploads come, though no ping is answered', async () => {
    const service = await channelService((channel) => {
      // As ws itself would not: the service answers no ping, but sends.
      channel.pong = () => undefined;
      const upload = setInterval(() => channel.send('{"type":"unknown_type"}'), 5);
      channel.on('close', () => clearInterval(upload));
    });
    let pings = 0;
    const listener = listen(clientOf(service.baseUrl, { ping: 0.1, heartbeat: 0 }));
    await listener.state('connected');
    for (const channel of service.clients) channel.on('ping', () => pings++);
    await until(() => pings >= 6, 'six pings');
    assert.equal(service.opened(), 1);
  });
});
