import assert from 'node:assert/strict';
import type { WebSocket } from 'ws';
import { channelService } from '../../tooling/servers/channel-service';
import { clientOf } from '../support/client';
import { listen } from '../support/listener';
import { until } from '../../tooling/until';

const HEARTBEAT = '{"type":"heartbeat"}';

describe('a channel that is kept alive', () => {
  it('sends the heartbeat of section 6 periodically', async () => {
    const service = await channelService();
    await listen(clientOf(service.baseUrl, { heartbeat: 20 })).state('connected');
    await until(() => service.frames.length >= 3, 'three heartbeats');
    assert.ok(service.frames.every((frame) => frame === HEARTBEAT));
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

  /** Answers pings as ws does, and says after each pong that it was one. */
  const sayPong = (channel: WebSocket): void =>
    void channel.on('ping', () =>
      channel.send(
        '{"type":"data_upload","body":"cG9uZw==","chipid":"10000001","appid":"1","timestamp":"1"}',
      ),
    );
  /** Answers no ping, and is silent. */
  const fallSilent = (channel: WebSocket): void => void (channel.pong = () => undefined);

  it('is reopened when a service that has answered a ping falls silent', async () => {
    const service = await channelService(sayPong);
    const listener = listen(clientOf(service.baseUrl, { ping: 100, heartbeat: 0 }));
    await until(() => listener.uploads.length > 0, 'a pong');
    for (const channel of service.clients) {
      channel.removeAllListeners('ping');
      fallSilent(channel);
    }
    await listener.state('connected', 2);
    assert.deepEqual(
      listener.changes.find(({ state }) => state === 'disconnected'),
      { state: 'disconnected', reason: 'SILENT' },
    );
  });

  it('is reopened when it is silent from the start, if an earlier connection answered a ping', async () => {
    const service = await channelService((channel, count) =>
      count === 0 ? sayPong(channel) : fallSilent(channel),
    );
    const listener = listen(clientOf(service.baseUrl, { ping: 100, heartbeat: 0 }));
    await until(() => listener.uploads.length > 0, 'a pong');
    for (const channel of service.clients) channel.terminate();
    await listener.state('disconnected', 2);
    const ends = listener.changes.filter(({ state }) => state === 'disconnected');
    assert.deepEqual(
      ends.slice(0, 2).map(({ reason }) => reason),
      ['1006', 'SILENT'],
    );
  });

  it('stays open, silent or not, if the service never answers a ping', async () => {
    let pings = 0;
    const service = await channelService((channel) => {
      channel.on('ping', () => pings++);
      // It may send unsolicited pongs, which are no answers (RFC 6455, 5.5.3).
      for (const data of ['', '0', '99']) channel.pong(data);
      fallSilent(channel);
    });
    const listener = listen(clientOf(service.baseUrl, { ping: 20, heartbeat: 0 }));
    await until(() => pings >= 20, 'twenty pings');
    assert.deepEqual([service.opened(), listener.subscription.channel.state], [1, 'connected']);
  });

  it('stays open while uploads arrive, although no ping is answered', async () => {
    const service = await channelService((channel) => {
      // As ws itself would not: the service answers no ping, but sends.
      channel.pong = () => undefined;
      const upload = setInterval(() => channel.send('{"type":"unknown_type"}'), 5);
      channel.on('close', () => clearInterval(upload));
    });
    let pings = 0;
    const listener = listen(clientOf(service.baseUrl, { ping: 100, heartbeat: 0 }));
    await listener.state('connected');
    for (const channel of service.clients) channel.on('ping', () => pings++);
    await until(() => pings >= 6, 'six pings');
    assert.equal(service.opened(), 1);
  });
});
