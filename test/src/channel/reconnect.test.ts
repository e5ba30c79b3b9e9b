import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { type ChannelState, IsolatedListener } from '../../../src/channel/listener';
import { ServiceLimiter } from '../../../src/http/service-limiter';
import { channelService } from '../../tooling/servers/channel-service';
import { atEnd } from '../../tooling/servers/at-end';
import { clientOf, simulator } from '../support/client';
import { CHIPID, connected, listen } from '../support/listener';
import { settled, until } from '../../tooling/until';
import { freePort } from '../../tooling/servers/ports';
import { wireService } from '../../tooling/servers/wire-service';
import { failure } from '../support/failure';
import { proxy } from '../../tooling/servers/proxy';
import { gone, resources } from '../support/resources';
import { Channel, type ChannelSettings } from '../../../src/channel/channel';
import { TurnShare } from '../../../src/channel/socket';
import { TimerQueue } from '../../../src/channel/timer-queue';
import { heldTimers } from '../../support/held-timers';

/** A channel without a client around it, and with no pings. */
function bareChannel(
  baseUrl: string,
  settings: Pick<ChannelSettings, 'limiter' | 'random'>,
): Channel {
  const channel = new Channel(CHIPID, {
    appid: '1',
    url: () => baseUrl.replace('http:', 'ws:'),
    now: Date.now,
    socket: {},
    heartbeat: 0,
    ping: 0,
    timers: new TimerQueue(),
    turns: new TurnShare(),
    ...settings,
  });
  atEnd(() => channel.close());
  return channel;
}

describe('a channel that the service closes', () => {
  for (const code of [1000, 1001, 1006, 1008, 1011, 1012, 1013]) {
    it(`with ${code} reconnects, and uploads arrive again`, async () => {
      const { service, listener } = await connected();
      service.disconnect(CHIPID, code);
      await listener.state('connected', 2);
      assert.deepEqual(listener.changes, [
        { state: 'connected', reason: undefined },
        { state: 'disconnected', reason: String(code) },
        { state: 'connecting', reason: String(code) },
        { state: 'connected', reason: undefined },
      ]);
      await until(() => service.channels() === 1);
      service.upload(CHIPID, 'after');
      await until(() => listener.texts().includes('after'));
      assert.deepEqual(listener.faults, []);
    });
  }

  it('repeatedly reconnects each time, one connection at a time', async () => {
    let most = 0;
    const service = await channelService((channel) => {
      most = Math.max(most, service.clients.size);
      channel.terminate();
    });
    await listen(clientOf(service.baseUrl)).state('connected', 10);
    assert.equal(most, 1);
  });

  it('reconnects later each time, but soon after a connection that lasted', async () => {
    atEnd(() => mock.reset());
    const pauses: number[] = [];
    const realNow = performance.now.bind(performance);
    let lasted = 0;
    mock.method(performance, 'now', () => realNow() + lasted);
    const timers = mock.method(globalThis, 'setTimeout').mock;
    const service = await channelService();
    let connections = 0;
    const channel = bareChannel(service.baseUrl, {
      // Of its own, since the clock is set back at the end.
      limiter: new ServiceLimiter(1),
      random: () => 0.001,
    });
    // Not by `until`, which times out at once where this clock is moved on.
    await new Promise<void>((resolve) => {
      const onState = (state: ChannelState): void => {
        // The timer of the next attempt is the latest that was set.
        if (state === 'disconnected') pauses.push(Number(timers.calls.at(-1)?.arguments[1]));
        if (pauses.length === 6) resolve();
        if (state !== 'connected') return;
        if (++connections === 4) lasted = 60_000;
        for (const client of service.clients) client.terminate();
      };
      channel.join(new IsolatedListener({ onState }));
    });
    assert.deepEqual(pauses.slice(0, 6), [1, 2, 4, 1, 2, 4]);
  });
});

describe('a channel that does not open', () => {
  const refusals = [
    ['answer-upgrade', '200'],
    ['gateway-upgrade', '502'],
    ['reset-upgrade', 'ECONNRESET'],
  ] as const;
  for (const [fault, reason] of refusals) {
    it(`after ${fault} reports ${reason} and opens as soon as it can`, async () => {
      const service = await simulator();
      service.fail(fault, { times: 2 });
      const listener = listen(clientOf(service.baseUrl));
      await listener.state('connected');
      const states: [ChannelState, string | undefined][] = listener.changes.map((change) => [
        change.state,
        change.reason,
      ]);
      assert.deepEqual(states, [
        ['disconnected', reason],
        ['connecting', reason],
        ['disconnected', reason],
        ['connecting', reason],
        ['connected', undefined],
      ]);
      assert.equal(service.requests.length, 3);
    });
  }

  it('because of its keys reports 401 and waits long before the next attempt', async () => {
    const service = await simulator();
    const listener = listen(clientOf(service.baseUrl, { appkey: 'Wrong-Key-Of-The-App' }));
    await listener.state('disconnected');
    assert.deepEqual(listener.changes, [{ state: 'disconnected', reason: '401' }]);
    // With random 0 every other reason leads to an attempt at once.
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(service.requests.length, 1);
    assert.equal(listener.subscription.channel.state, 'disconnected');
    assert.equal(listener.subscription.channel.reason, '401');
  });

  it('because of a redirect does not follow it', async () => {
    const elsewhere = await channelService();
    const service = await wireService((socket) => {
      socket.end(`HTTP/1.1 302 Found\r\nlocation: ws://127.0.0.1:${elsewhere.port}/\r\n\r\n`);
    });
    const listener = listen(clientOf(service.baseUrl));
    await listener.state('disconnected', 2);
    assert.equal(listener.changes[0]?.reason, '302');
    assert.equal(elsewhere.sockets(), 0);
  });

  it('because the answer is not HTTP reports that without quoting it', async () => {
    const service = await wireService((socket) => void socket.end('garbage\r\n\r\n'));
    const listener = listen(clientOf(service.baseUrl));
    await listener.state('disconnected');
    assert.match(String(listener.changes[0]?.reason), /^HPE_/);
  });

  it('because nothing listens opens once the service listens', async () => {
    const port = await freePort();
    const listener = listen(clientOf(`http://127.0.0.1:${port}`));
    await listener.state('disconnected', 3);
    assert.equal(listener.changes[0]?.reason, 'ECONNREFUSED');
    await simulator({ port });
    await listener.state('connected');
  });

  it('never reveals its signed address', async () => {
    const service = await simulator();
    service.fail('answer-upgrade', { times: 1 });
    service.fail('reset-upgrade', { times: 1 });
    service.fail('refuse-upgrade', { times: 1 });
    const listener = listen(clientOf(service.baseUrl));
    await until(() => listener.changes.some(({ reason }) => reason === '401'));
    assert.doesNotMatch(JSON.stringify(listener.changes), /sign|appid|noticed|[0-9a-f]{32}/);
  });
});

describe('closing a client while a channel connects', () => {
  for (const scheme of ['http:', 'https:']) {
    it(`ends an upgrade over ${scheme} that is never answered, and the push that waits for it`, async () => {
      const service = await wireService(() => undefined);
      const before = resources();
      const client = clientOf(service.baseUrl.replace('http:', scheme));
      const listener = listen(client);
      const push = failure(client.pushOverChannel('2', 'x'), 'NOT_CONNECTED');
      await until(() => service.sockets() === 2, 'both connections');
      await Promise.all([client.close(), push]);
      await until(() => service.sockets() === 0, 'the end of the connections');
      await gone(before);
      assert.deepEqual(listener.changes, []);
    });
  }

  it('ends a back-off', async () => {
    const service = await channelService((channel) => channel.close(1011));
    const before = resources();
    const client = clientOf(service.baseUrl, { random: () => 0.999 });
    const listener = listen(client);
    await listener.state('disconnected');
    await client.close();
    await gone(before);
    assert.equal(service.opened(), 1);
  });

  it('ends tunnels that a proxy never completes', async () => {
    const through = await proxy('hang');
    const before = resources();
    const client = clientOf('http://inside.invalid', { proxy: { url: through.url } });
    listen(client);
    const push = failure(client.push(1, 'x'), 'UNREACHABLE');
    await until(() => through.targets.length === 2);
    await Promise.all([client.close(), push]);
    // At once, and not only when their own time is over.
    await gone(before);
    assert.equal(through.sockets(), 0);
  });
});

/** Opens a channel. @returns it, and what it does with its limiter */
function open(baseUrl: string): { channel: Channel; reports: string[] } {
  const reports: string[] = [];
  const channel = bareChannel(baseUrl, {
    limiter: {
      acquire(granted) {
        setImmediate(granted);
        reports.push('acquired');
        return { release: () => reports.push('released') };
      },
      pause: (wait) => reports.push(`paused for ${wait}`),
    },
    random: () => 0,
  });
  return { channel, reports };
}

describe('the place of a channel among the handshakes of a service', () => {
  it('is taken for each attempt, and free again when the channel opens', async () => {
    const service = await channelService((channel, count) => {
      if (count === 0) channel.terminate();
    });
    const { channel, reports } = open(service.baseUrl);
    await until(() => service.opened() === 2 && channel.state === 'connected');
    assert.deepEqual(reports, ['acquired', 'released', 'acquired', 'released']);
    channel.close();
    assert.deepEqual(reports.length, 4);
  });

  it('is free when it is refused, and all wait as the service asks in a 429 or 503', async () => {
    const answers = [
      '503 No\r\nRetry-After: 7',
      '429 No\r\nRetry-After: soon',
      '429 No\r\nRetry-After: 3',
      '403 No\r\nRetry-After: 9',
    ];
    const service = await wireService((socket, count) => {
      socket.end(`HTTP/1.1 ${answers[count] ?? '403 No'}\r\nContent-Length: 0\r\n\r\n`);
    });
    const { reports } = open(service.baseUrl);
    await until(() => reports.filter((report) => report === 'released').length === 4);
    assert.deepEqual(
      reports.filter((report) => report.startsWith('paused')),
      ['paused for 7000', 'paused for 3000'],
    );
  });

  it('is free when the channel closes before', async () => {
    const service = await wireService(() => undefined);
    const { channel, reports } = open(service.baseUrl);
    await until(() => service.requests() === 1);
    channel.close();
    assert.deepEqual(reports, ['acquired', 'released']);
  });

  it('is one of 32 for all clients, and free after 5 s without an answer', async () => {
    const expire = heldTimers(5000);
    const service = await wireService(() => undefined);
    for (const client of [clientOf(service.baseUrl), clientOf(service.baseUrl)])
      for (let chipid = 0; chipid < 40; chipid++) client.listen(chipid, {});
    await until(() => service.requests() === 32);
    await settled(50);
    assert.equal(service.requests(), 32);
    expire();
    await until(() => service.requests() === 64);
    await settled(50);
    assert.equal(service.requests(), 64, 'those that are not answered are still under way');
    expire();
    await until(() => service.requests() === 80);
  });
});
