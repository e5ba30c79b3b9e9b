import assert from 'node:assert/strict';
import { channelService } from '../../tooling/servers/channel-service';
import { clientOf, KEYS, simulated, simulator } from '../support/client';
import { CHIPID, connected, listen, type Listener } from '../support/listener';
import { until } from '../../tooling/until';
import type { WebSocket } from 'ws';
import type { FaultName } from '../../../src/simulator';
import type { PushFormat, PushMessage } from '../../../src/types';
import { failure } from '../support/failure';
import { heldTimers, HOUR } from '../../support/held-timers';
import { freePort } from '../../tooling/servers/ports';
import { inEachDialect } from '../../tooling/dialect';

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
      const { service, listener } = await connected();
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

/** Frames that cost nothing but themselves, and the fault that is reported. */
const BAD_FRAMES: [fault: FaultName, report: RegExp][] = [
  ['bad-json', /not JSON/],
  ['other-chipid', /another device/],
  ['binary', /binary/],
];

/** Frames that break the protocol: the connection has to end, and the reason says why. */
const BREAKING: [fault: FaultName, reason: string][] = [
  ['big-frame', 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'],
  ['bad-utf8', 'WS_ERR_INVALID_UTF8'],
  ['bad-close-code', 'WS_ERR_INVALID_CLOSE_CODE'],
];

const EVENT = { type: 'data_upload', appid: '1', chipid: CHIPID, timestamp: '1', body: 'QUJD' };
const UPLOAD = JSON.stringify(EVENT);

const disconnects = ({ changes }: Listener) =>
  changes.filter(({ state }) => state === 'disconnected');

describe('a frame that is not what section 6 describes', () => {
  for (const [fault, report] of BAD_FRAMES) {
    it(`is reported once and ignored if it is ${fault}; the next upload arrives`, async () => {
      const { service, listener } = await connected();
      service.fail(fault, { times: 1 });
      service.upload(CHIPID, 'spoilt');
      service.upload(CHIPID, 'good');
      await until(() => listener.uploads.length > 0);
      assert.deepEqual(listener.texts(), ['good']);
      assert.equal(listener.faults.length, 1);
      assert.match(listener.faults[0]!, report);
      assert.deepEqual(disconnects(listener), []);
    });
  }

  for (const [fault, reason] of BREAKING) {
    it(`ends the connection once if it is ${fault}; after a new one uploads arrive`, async () => {
      const { service, listener } = await connected();
      service.fail(fault, { times: 1 });
      service.upload(CHIPID, 'spoilt');
      await listener.state('connected', 2);
      assert.deepEqual(disconnects(listener), [{ state: 'disconnected', reason }]);
      assert.deepEqual(listener.texts(), []);
      await until(() => service.channels() === 1);
      service.upload(CHIPID, 'good');
      await until(() => listener.uploads.length > 0);
      assert.deepEqual(listener.texts(), ['good']);
    });
  }

  it('may arrive in fragments', async () => {
    const service = await channelService((channel: WebSocket) => {
      channel.send(UPLOAD.slice(0, 20), { fin: false });
      channel.send(UPLOAD.slice(20), { fin: true });
    });
    const listener = listen(clientOf(service.baseUrl));
    await until(() => listener.uploads.length === 1);
    assert.deepEqual(listener.texts(), ['ABC']);
  });

  for (const [what, part] of [
    ['of one byte', ' '],
    ['that are empty', ''],
  ] as const) {
    it(`that arrives in endless pieces ${what} ends the connection, and the next upload arrives`, async () => {
      const service = await channelService((channel, count) => {
        if (count > 0) channel.send(UPLOAD);
        else for (let sent = 0; sent < 40_000; sent++) channel.send(part, { fin: false });
      });
      const listener = listen(clientOf(service.baseUrl));
      await until(() => listener.uploads.length === 1);
      const fault = ['An upload came in more than 16,384 parts, the limit.'];
      assert.deepEqual(listener.faults, fault);
      const reasons = disconnects(listener).map(({ reason }) => reason);
      assert.deepEqual(reasons, ['WS_ERR_TOO_MANY_BUFFERED_PARTS']);
    });
  }
});

inEachDialect('a push over the channel', () => {
  const pushes: [what: string, message: PushMessage, format: PushFormat, bytes: Buffer][] = [
    ['text as UTF-8', 'grün 😀\0', 'MSG', Buffer.from('grün 😀\0')],
    ['nothing', '', 'MSG', Buffer.alloc(0)],
    ['a Buffer as hex', Buffer.from([0xc3, 0x28]), 'HEX', Buffer.from([0xc3, 0x28])],
  ];
  for (const [what, message, format, bytes] of pushes) {
    it(`delivers ${what}`, async () => {
      const service = await simulator();
      await clientOf(service.baseUrl).pushOverChannel(CHIPID, message, { format });
      const { received } = service.device(CHIPID);
      await until(() => received.length === 1);
      assert.deepEqual([received[0]?.via, received[0]?.bytes], ['channel', bytes]);
    });
  }

  it('is the msgpush of section 6, with type and body alone', async () => {
    const service = await channelService();
    await clientOf(service.baseUrl, { heartbeat: 0 }).pushOverChannel(CHIPID, 'abc');
    await until(() => service.frames.length === 1);
    assert.deepEqual(JSON.parse(service.frames[0]!), { type: 'msgpush', body: 'YWJj' });
  });

  it('uses the channel that is open, and leaves it open', async () => {
    const { service, client } = await connected();
    for (const text of ['a', 'b', 'c']) await client.pushOverChannel(CHIPID, text);
    const { received } = service.device(CHIPID);
    await until(() => received.length === 3);
    assert.deepEqual(
      received.map(({ text }) => text),
      ['a', 'b', 'c'],
    );
    assert.deepEqual([service.requests.length, service.channels()], [1, 1]);
  });

  it('is NOT_CONNECTED if the channel does not open in time, and says why', async () => {
    const client = clientOf(`http://127.0.0.1:${await freePort()}`);
    const expire = heldTimers();
    const push = failure(client.pushOverChannel(CHIPID, 'x', { timeout: HOUR }), 'NOT_CONNECTED');
    await listen(client).state('disconnected');
    expire();
    assert.match((await push).message, /\(ECONNREFUSED\).*device 10000001 was not sent/);
  });

  it('gives the reason of the previous attempt while another is under way', async () => {
    const service = await simulator();
    service.fail('gateway-upgrade', { times: 1 });
    service.fail('hang-upgrade');
    const expire = heldTimers();
    const client = clientOf(service.baseUrl);
    const push = failure(client.pushOverChannel(CHIPID, 'x', { timeout: HOUR }), 'NOT_CONNECTED');
    await until(() => service.requests.length === 2, 'another attempt is under way');
    expire();
    assert.match((await push).message, /\(502\)/);
  });

  it('is NOT_CONNECTED if it is aborted while it waits, and is never sent', async () => {
    const service = await simulator();
    const lift = service.fail('answer-upgrade');
    const client = clientOf(service.baseUrl);
    const controller = new AbortController();
    const push = client.pushOverChannel(CHIPID, 'unwanted', { signal: controller.signal });
    await until(() => service.requests.length > 2);
    controller.abort();
    await failure(push, 'NOT_CONNECTED');
    lift();
    await client.pushOverChannel(CHIPID, 'wanted');
    const { received } = service.device(CHIPID);
    await until(() => received.length === 1);
    assert.equal(received[0]?.text, 'wanted');
  });

  it('keeps the order with pushes over HTTP to the same device', async () => {
    const { service, client } = await simulated({ answerDelay: 20 });
    await Promise.all([
      client.push(CHIPID, 'a'),
      client.pushOverChannel(CHIPID, 'b'),
      client.push(CHIPID, 'c'),
    ]);
    const { received } = service.device(CHIPID);
    await until(() => received.length === 3);
    assert.equal(received[0]?.text, 'a');
  });
});
