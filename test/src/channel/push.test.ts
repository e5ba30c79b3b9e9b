import assert from 'node:assert/strict';
import type { PushMessage, PushFormat } from '../../../src/types';
import { channelService } from '../../tooling/servers/channel-service';
import { clientOf, simulated, simulator } from '../support/client';
import { failure } from '../support/failure';
import { heldTimers, HOUR } from '../../support/held-timers';
import { CHIPID, listen } from '../support/listener';
import { until } from '../../tooling/until';
import { freePort } from '../../tooling/servers/ports';
import { inEachDialect } from '../../tooling/dialect';

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
    const { service, client } = await simulated();
    const listener = listen(client);
    await listener.state('connected');
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
