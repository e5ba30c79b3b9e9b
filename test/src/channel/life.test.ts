import assert from 'node:assert/strict';
import type { WebSocket } from 'ws';
import { channelService } from '../../tooling/servers/channel-service';
import { clientOf, KEYS } from '../support/client';
import { CHIPID, listen } from '../support/listener';
import { until } from '../../tooling/until';
import { USER_AGENT } from '../../../src/protocol/signing';
import { signByHand } from '../../tooling/sign-by-hand';
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { atEnd } from '../../tooling/servers/at-end';
import { onLoopback } from '../../tooling/servers/loopback';

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

const now = (): number => 1_700_000_000_123;

describe("the channel's address (section 4.3)", () => {
  for (const [timestampUnit, timestamp] of [
    ['ms', '1700000000123'],
    ['s', '1700000000'],
  ] as const) {
    it(`is signed with a timestamp in ${timestampUnit}, and has no final /`, async () => {
      const service = await channelService();
      const client = clientOf(service.baseUrl, { now, timestampUnit });
      await listen(client).state('connected');
      const [path, search] = service.urls[0]!.split('?');
      assert.equal(path, '/noticed/peer');
      const params = { appid: KEYS.appid, timestamp, chipid: CHIPID };
      const sign = signByHand('get', params, KEYS.appkey);
      assert.deepEqual(Object.fromEntries(new URLSearchParams(search)), { ...params, sign });
    });
  }

  it('comes with the User-Agent, and asks for no compression', async () => {
    const service = await channelService();
    await listen(clientOf(service.baseUrl)).state('connected');
    const headers = service.headers[0]!;
    assert.equal(headers['user-agent'], USER_AGENT);
    assert.equal(headers['sec-websocket-extensions'], undefined);
  });

  it('has a fresh signature at each attempt', async () => {
    let seconds = 1_700_000_000;
    const service = await channelService((channel) => channel.close(1001));
    const client = clientOf(service.baseUrl, { now: () => 1000 * seconds++ });
    await listen(client).state('connected', 3);
    const sent = service.urls.slice(0, 3).map((url) => {
      const { timestamp, sign } = Object.fromEntries(new URLSearchParams(url.split('?')[1]));
      return { timestamp, sign };
    });
    const expected = ['1700000000000', '1700000001000', '1700000002000'].map((timestamp) => {
      const params = { appid: KEYS.appid, timestamp, chipid: CHIPID };
      return { timestamp, sign: signByHand('get', params, KEYS.appkey) };
    });
    assert.deepEqual(sent, expected);
  });
});

/** Section 1.3 of RFC 6455. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const acceptOf = (key: string | undefined): string => hash('sha1', `${key ?? ''}${GUID}`, 'base64');

/** A service that answers upgrades with these headers. @param accept of the answer; default: the right one */
async function service(headers: string, accept?: string): Promise<string> {
  const server = createServer();
  server.on('upgrade', ({ headers: { 'sec-websocket-key': key } }, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${headers}\r\n` +
        `Sec-WebSocket-Accept: ${accept ?? acceptOf(key)}\r\n\r\n`,
    );
  });
  const { port, close } = await onLoopback(server);
  atEnd(close);
  return `http://127.0.0.1:${port}`;
}

describe('an answer to the upgrade that does not open the channel', () => {
  for (const [what, headers, accept] of [
    [
      'agrees to an extension',
      'Upgrade: websocket\r\nSec-WebSocket-Extensions: permessage-deflate',
    ],
    ['chooses a subprotocol', 'Upgrade: websocket\r\nSec-WebSocket-Protocol: mqtt'],
    ['is for another protocol', 'Upgrade: h2c'],
    ['is for another connection', 'Upgrade: websocket', 'bm90IHlvdXJzIGF0IGFsbCE='],
  ] as const) {
    it(`is the reason HANDSHAKE if it ${what}`, async () => {
      const listener = listen(clientOf(await service(headers, accept), { random: () => 0.99 }));
      await listener.state('disconnected');
      const { reason: given } = listener.changes.find(({ state }) => state === 'disconnected')!;
      assert.equal(given, 'HANDSHAKE');
    });
  }
});
