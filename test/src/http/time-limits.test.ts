import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { DeviceCloudClient } from '../../../src/client';
import type { CallOptions } from '../../../src/types';
import { transportError } from '../../../src/http/failures';
import { clientOf, KEYS, serving } from '../support/client';
import { failure, failures } from '../support/failure';
import { heldTimers, HOUR } from '../../support/held-timers';
import {
  hang,
  httpService,
  inSequence,
  json,
  type Script,
} from '../../tooling/servers/http-service';
import { manual } from '../support/manual';
import { until } from '../../tooling/until';
import { wireService } from '../../tooling/servers/wire-service';
import { Deadlines, onAbort } from '../../../src/http/deadline';
import { tick, useClock } from '../../support/clock';

const ok = json({ status: 'online', msg: 'OK' });

const DEVICE_CALLS: Record<
  string,
  (client: DeviceCloudClient, options?: CallOptions) => Promise<unknown>
> = {
  push: (client, options) => client.push(1, 'x', options),
  pushToApp: (client, options) => client.pushToApp('x', options),
  rtStatus: (client, options) => client.rtStatus(1, 'key', options),
  gpioStatus: (client, options) => client.gpioStatus(1, options),
  setGpioEdge: (client, options) => client.setGpioEdge(1, 2, 1, options),
  refresh: (client, options) => client.refresh(1, options),
  reboot: (client, options) => client.reboot(1, options),
};

type TimerArguments = [callback: (...values: unknown[]) => void, ms: number, ...values: unknown[]];

/** A service in its own thread: it reports each request, and answers on a signal. */
const ANSWERING = `
  const { parentPort, workerData: state } = require('node:worker_threads');
  const server = require('node:http').createServer((request, response) => {
    parentPort.postMessage('request');
    Atomics.wait(state, 0, 0);
    response.end('{"status":"online","msg":"OK"}', () => {
      Atomics.store(state, 0, 2);
      Atomics.notify(state, 0);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

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
  afterEach(() => mock.reset());

  it('ends a call whose answer never comes', async () => {
    const { service, client } = await serving(inSequence(hang, ok));
    const expire = heldTimers(1000);
    const ended = failure(client.push(10000001, 'x', { timeout: 1000 }), 'TIMEOUT');
    await until(() => service.requests.length === 1);
    expire();
    const { message } = await ended;
    assert.match(
      message,
      /^TIMEOUT: no answer in 1 s\. .* device 10000001 failed\. Whether the device acted is unknown/,
    );
    assert.doesNotMatch(message, /probably offline/);
    assert.deepEqual((await client.push(1, 'x')).body, { status: 'online', msg: 'OK' });
    assert.equal(service.requests.length, 2);
  });

  for (const seconds of [7.9, 8]) {
    it(`of ${seconds} s is ${seconds < 8 ? 'too short' : 'long enough'} to say that a device is offline`, () => {
      const call = { name: 'Push', reach: 'device', ofDevice: true, api: 'open' } as const;
      const failed = { kind: 'timeout', sent: true } as const;
      const { message } = transportError(call, failed, false, seconds * 1000);
      assert.equal(/probably offline/.test(message), seconds >= 8);
      const cloud = transportError({ ...call, reach: 'cloud' }, failed, false, seconds * 1000);
      assert.doesNotMatch(cloud.message, /offline/);
    });
  }

  it("is the client's unless the call has its own", async () => {
    const { service, client } = await serving(hang, { timeout: 700 });
    const unset = { timeout: undefined } as object;
    const expire = heldTimers(700);
    const ended = failures(
      [client.uploadHistory(1), client.devices(unset), client.serverUpdate('a', {})],
      'TIMEOUT',
    );
    await until(() => service.requests.length === 3);
    expire();
    for (const { message } of await ended) assert.match(message, /no answer in 0\.7 s/);
    assert.equal(service.requests.length, 3, 'a time-out is not followed by another attempt');
  });

  describe('for every call that waits for a device', () => {
    afterEach(() => mock.timers.reset());

    for (const [name, call] of Object.entries(DEVICE_CALLS)) {
      it(`is 12 s: ${name}`, async () => {
        const service = await httpService(hang);
        for (const timeout of [100, 60_000]) {
          for (const options of [undefined, { timeout: undefined } as object]) {
            const client = clientOf(service.baseUrl, { timeout });
            mock.timers.enable({ apis: ['setTimeout'] });
            const ended = failure(call(client, options), 'TIMEOUT');
            mock.timers.tick(12_000);
            mock.timers.reset();
            assert.match((await ended).message, /within 12 s/);
          }
        }
      });
    }
  });

  it('is one for both spellings of the list of devices', async () => {
    const service = await httpService(inSequence(json({ msg: 'no' }, 404), hang));
    const timers = mock.method(globalThis, 'setTimeout').mock;
    const ended = failure(clientOf(service.baseUrl).devices({ timeout: HOUR }), 'TIMEOUT');
    await until(() => service.requests.length === 2, 'the second spelling is asked');
    const set = timers.calls.map((call) => call.arguments as unknown as TimerArguments);
    timers.restore();
    const limits = set.filter(([, ms]) => ms === HOUR);
    assert.equal(limits.length, 1);
    // The hour is over.
    for (const [end, , ...values] of limits) end(...values);
    await ended;
    assert.equal(service.requests.length, 2);
  });

  it('is not over for an answer that came while the process stood still', async () => {
    const state = new Int32Array(new SharedArrayBuffer(4));
    const server = new Worker(ANSWERING, { eval: true, workerData: state });
    try {
      const [port] = (await once(server, 'message')) as [number];
      const timers = mock.method(globalThis, 'setTimeout').mock;
      const standStill = (): void => {
        // Nothing else runs until the answer is in the socket, and the hour is over.
        Atomics.store(state, 0, 1);
        Atomics.notify(state, 0);
        Atomics.wait(state, 0, 1);
        const set = timers.calls.map((call) => call.arguments as unknown as TimerArguments);
        for (const [end, ms, ...values] of set) if (ms === HOUR) end(...values);
      };
      // The request is there. As all that is late, the end of the hour comes as a timer.
      server.once('message', () => setTimeout(standStill));
      const answer = clientOf(`http://127.0.0.1:${port}`).push(1, 'x', { timeout: HOUR });
      assert.deepEqual((await answer).body, { status: 'online', msg: 'OK' });
    } finally {
      await server.terminate();
    }
  });

  it('ends an answer that trickles, although data keeps arriving', async () => {
    const { client } = await serving(inSequence(trickle, ok));
    await failure(client.push(1, 'x', { timeout: 300 }), 'TIMEOUT');
    assert.deepEqual((await client.push(1, 'x')).body, { status: 'online', msg: 'OK' });
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
    const client = clientOf(service.baseUrl);
    await failure(client.refresh(1, { timeout: 300 }), 'TIMEOUT');
    await ended.promise;
  });

  it('is one for all attempts of a read', async () => {
    // Either attempt alone would end in its time; a slow machine only makes them later.
    const late =
      (script: Script): Script =>
      (...request) =>
        void setTimeout(() => script(...request), 600);
    const service = await httpService(inSequence(late(json([], 503)), late(json([]))));
    await failure(clientOf(service.baseUrl).uploadHistory(1, { timeout: 1000 }), 'TIMEOUT');
  });

  for (const timeout of [0, Infinity]) {
    it(`cannot be ${timeout}`, async () => {
      const { service, client } = await serving(ok);
      await failure(client.push(1, 'x', { timeout }), 'NOT_CONFIGURED');
      await failure(client.devices({ timeout }), 'NOT_CONFIGURED');
      await failure(client.pushOverChannel(1, 'x', { timeout }), 'NOT_CONFIGURED');
      assert.equal(service.connections(), 0);
    });
  }
});

describe('a call that is aborted', () => {
  it('while it is under way is CONNECTION_LOST, and its connection ends', async () => {
    let ended = 0;
    const { service, client } = await serving((response) => response.on('close', () => ended++));
    const controller = new AbortController();
    const calls = [
      client.push(1, 'x', { signal: controller.signal }),
      client.uploadHistory(2, { signal: controller.signal }),
    ];
    await until(() => service.requests.length === 2);
    controller.abort();
    await failures(calls, 'CONNECTION_LOST');
    await until(() => ended === 2, 'the end of the connections');
    assert.equal(service.requests.length, 2);
  });

  const reasons: [what: string, reason: unknown, words: string][] = [
    ['a text', 'the user pressed Stop', 'the user pressed Stop'],
    ['an error', new Error('shutting\ndown'), 'shutting\ufffddown'],
    ['none', undefined, 'the caller aborted it'],
    ['an error without words', new Error(''), 'the caller aborted it'],
    ['one with a secret', `${KEYS.appkey} leaked`, '*** leaked'],
  ];
  for (const [what, reason, words] of reasons) {
    it(`repeats the reason of the signal: ${what}`, async () => {
      const { service, client } = await serving(hang);
      const controller = new AbortController();
      const { signal } = controller;
      const running = failure(client.push(1, 'x', { signal }), 'CONNECTION_LOST');
      await until(() => service.requests.length === 1);
      const waiting = [client.push(1, 'y', { signal }), client.uploadHistory(2, { signal })];
      const unsent = failures(waiting, 'UNREACHABLE');
      controller.abort(reason);
      const lost = await running;
      assert.ok(
        lost.message.includes(`Broken off: ${words}. Push to device 1 failed. Whether`),
        lost.message,
      );
      const late = [client.push(1, 'z', { signal }), client.devices({ signal })];
      for (const { message } of [...(await unsent), ...(await failures(late, 'UNREACHABLE'))]) {
        assert.ok(message.includes(`Not sent: ${words}. `), message);
      }
    });
  }
});

describe('the deadline of a call', () => {
  useClock();

  it('calls back once, with its reason', () => {
    const reasons: string[] = [];
    const controller = new AbortController();
    const deadline = new Deadlines().start(2000, controller.signal);
    deadline.listen((end) => reasons.push(end.reason));
    tick(1999);
    assert.deepEqual(reasons, []);
    tick(1);
    controller.abort();
    assert.deepEqual(reasons, ['timeout']);
  });

  it('ends all calls, and every later one, when the client is closed', () => {
    const deadlines = new Deadlines();
    const reasons: string[] = [];
    deadlines.start(2000).listen((end) => reasons.push(end.reason));
    deadlines.close();
    deadlines.start(2000).listen((end) => reasons.push(end.reason));
    assert.deepEqual(reasons, ['aborted', 'aborted']);
  });

  it('does not call back when the call is over', () => {
    const controller = new AbortController();
    const deadlines = new Deadlines();
    const deadline = deadlines.start(2000, controller.signal);
    deadline.listen(() => assert.fail('it called back'));
    deadline.clear();
    controller.abort();
    deadlines.close();
    tick(10_000);
    assert.equal(deadline.ended, undefined);
  });

  it('may be later than a timer can be, and never ends the call early', () => {
    const deadline = new Deadlines().start(1e15);
    tick(24 * 60 * 60 * 1000);
    assert.equal(deadline.ended, undefined);
    deadline.clear();
  });
});

describe('callbacks that share a signal', () => {
  it('are all called when it aborts, except those that were removed', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    onAbort(controller.signal, () => calls.push('a'));
    const ignore = onAbort(controller.signal, () => calls.push('b'));
    onAbort(controller.signal, () => calls.push('c'));
    ignore();
    controller.abort();
    assert.deepEqual(calls, ['a', 'c']);
  });

  it('share one listener, which goes with the last of them', () => {
    const { signal } = new AbortController();
    const count = (): number => getEventListeners(signal, 'abort').length;
    const ignores = Array.from({ length: 100 }, () => onAbort(signal, () => undefined));
    assert.equal(count(), 1);
    for (const ignore of ignores) ignore();
    for (const ignore of ignores) ignore();
    assert.equal(count(), 0);
    onAbort(signal, () => undefined);
    assert.equal(count(), 1);
  });
});
