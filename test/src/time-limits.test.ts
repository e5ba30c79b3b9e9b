import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { clientOf } from './support/client';
import { failure, failures } from './support/failure';
import { hang, httpService, inTurn, json, type Script } from './support/http-service';
import { manual } from './support/manual';
import { until } from './support/until';
import { wireService } from './support/wire-service';

const ok = json({ msg: 'OK' });

/** Writes a piece every 10 ms until the client has had enough. */
const drip = (response: ServerResponse, piece: string): void => {
  const timer = setInterval(() => response.write(piece), 10);
  response.on('close', () => clearInterval(timer));
};

const trickle: Script = (response) => {
  response.writeHead(200);
  drip(response, ' ');
};

describe('the time a call may take', () => {
  it('ends a call whose answer never comes: the device is probably offline', async () => {
    const service = await httpService(inTurn(hang, ok));
    const client = clientOf(service.baseUrl, { connections: 1 });
    const { message } = await failure(client.push(10000001, 'x', { timeout: 1 }), 'TIMEOUT');
    assert.match(message, /device 10000001 .* 1 s.*offline.*acted is unknown/);
    assert.deepEqual((await client.push(1, 'x')).body, { msg: 'OK' });
    assert.equal(service.requests.length, 2);
  });

  it("is the client's, if the call has none of its own", async () => {
    const service = await httpService(hang);
    const client = clientOf(service.baseUrl, { timeout: 0.7 });
    assert.match((await failure(client.uploads(1), 'TIMEOUT')).message, /within 0\.7 s/);
    assert.match((await failure(client.reboot(1), 'TIMEOUT')).message, /within 0\.7 s/);
    assert.equal(service.requests.length, 2, 'a time-out is not followed by another attempt');
  });

  it('is 10 s for a push, however long the others may take', async () => {
    const service = await httpService(hang);
    const client = clientOf(service.baseUrl, { timeout: 60 });
    const controller = new AbortController();
    const push = client.push(1, 'x', { signal: controller.signal });
    await until(() => service.requests.length === 1);
    setTimeout(() => controller.abort(), 20);
    await failure(push, 'CONNECTION_LOST');
  });

  it('ends an answer that trickles, though something comes all the time', async () => {
    const service = await httpService(inTurn(trickle, ok));
    const client = clientOf(service.baseUrl, { connections: 1 });
    await failure(client.push(1, 'x', { timeout: 1 }), 'TIMEOUT');
    assert.deepEqual((await client.push(1, 'x')).body, { msg: 'OK' });
  });

  it('ends headers that trickle, and their connection', async () => {
    const ended = manual();
    const service = await wireService((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
      const timer = setInterval(() => socket.write('.'), 10);
      socket.on('close', () => {
        clearInterval(timer);
        ended.resolve();
      });
    });
    const client = clientOf(service.baseUrl, { connections: 1 });
    await failure(client.refresh(1, { timeout: 1 }), 'TIMEOUT');
    await ended.promise;
  });

  it('ends TLS that never comes about, and nothing was sent', async () => {
    const service = await wireService(() => undefined);
    const client = clientOf(service.baseUrl.replace('http:', 'https:'));
    const { message } = await failure(client.push(1, 'x', { timeout: 0.1 }), 'TIMEOUT');
    assert.match(message, /was not sent/);
  });

  it('is one for all attempts of a read', async () => {
    // Either attempt alone would end in its time; a slow machine only makes them later.
    const late =
      (script: Script): Script =>
      (...request) =>
        void setTimeout(() => script(...request), 1200);
    const service = await httpService(inTurn(late(json([], 503)), late(json([]))));
    await failure(clientOf(service.baseUrl).uploads(1, { timeout: 2 }), 'TIMEOUT');
  });

  it('may be as long as one likes', async () => {
    const service = await httpService(ok);
    assert.equal((await clientOf(service.baseUrl).push(1, 'x', { timeout: 1e6 })).statusCode, 200);
  });

  for (const timeout of [0, -1, NaN, Infinity]) {
    it(`cannot be ${timeout}`, async () => {
      const service = await httpService(ok);
      const client = clientOf(service.baseUrl);
      await failure(client.push(1, 'x', { timeout }), 'NOT_CONFIGURED');
      await failure(client.devices({ timeout }), 'NOT_CONFIGURED');
      await failure(client.pushOverChannel(1, 'x', { timeout }), 'NOT_CONFIGURED');
      assert.equal(service.connections(), 0);
    });
  }
});

describe('a call that is broken off', () => {
  it('was not sent if it was broken off before', async () => {
    const service = await httpService(ok);
    const client = clientOf(service.baseUrl);
    const signal = AbortSignal.abort();
    await failure(client.push(1, 'x', { signal }), 'UNREACHABLE');
    await failure(client.uploads(1, { signal }), 'UNREACHABLE');
    assert.equal(service.connections(), 0);
  });

  it('is CONNECTION_LOST on its way, and its connection ends', async () => {
    let ended = 0;
    const service = await httpService((response) => response.on('close', () => ended++));
    const client = clientOf(service.baseUrl);
    const controller = new AbortController();
    const calls = [
      client.push(1, 'x', { signal: controller.signal }),
      client.uploads(2, { signal: controller.signal }),
    ];
    await until(() => service.requests.length === 2);
    controller.abort();
    await failures(calls, 'CONNECTION_LOST');
    await until(() => ended === 2, 'the end of the connections');
    assert.equal(service.requests.length, 2);
  });

  it('too late has no effect', async () => {
    const service = await httpService(ok);
    const client = clientOf(service.baseUrl);
    const controller = new AbortController();
    await client.push(1, 'x', { signal: controller.signal });
    controller.abort();
    await client.push(1, 'y');
    assert.equal(service.requests.length, 2);
  });
});
