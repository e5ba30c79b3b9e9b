import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallOptions, DeviceCloudClient } from '../../../src/index';
import type { Simulator } from '../../../src/simulator';
import { clientOf, serving, simulated, simulator } from '../support/client';
import { failure } from '../support/failure';
import { heldTimers, HOUR } from '../../support/held-timers';
import { until } from '../../tooling/until';
import { hang, inSequence, json, type Script } from '../../tooling/servers/http-service';
import { CHIPID } from '../support/listener';
import { manual } from '../support/manual';

const [A, B, C] = ['10000001', '10000002', '10000003'] as const;

describe('calls to several devices', () => {
  let service: Simulator;
  let client: DeviceCloudClient;
  const texts = (chipid: string) => service.device(chipid).received.map(({ text }) => text);
  const push =
    (text: string) =>
    (chipid: string, options: CallOptions): Promise<unknown> =>
      client.push(chipid, text, options);
  const statuses = (results: readonly PromiseSettledResult<unknown>[]) =>
    results.map(({ status }) => status);
  const code = (result: PromiseSettledResult<unknown> | undefined): unknown =>
    result?.status === 'rejected' ? (result.reason as { code?: string }).code : result;

  async function start(answerDelay = 0): Promise<void> {
    service = await simulator({ answerDelay });
    client = clientOf(service.baseUrl);
  }
  beforeEach(() => start());

  it('have their places in the queues from the beginning', async () => {
    await start(5);
    const both = client.callEach([A, B], push('first'), { atOnce: 1 });
    const later = client.push(B, 'later');
    const more = client.callEach([B, A], push('more'), { atOnce: 1 });
    assert.deepEqual(statuses(await both), ['fulfilled', 'fulfilled']);
    await Promise.all([later, more]);
    assert.deepEqual(texts(A), ['first', 'more']);
    assert.deepEqual(texts(B), ['first', 'later', 'more']);
  });

  it('are made in several turns, each before a later command to its device', async () => {
    await start(5);
    const made: string[] = [];
    const slow = (chipid: string, options: CallOptions): Promise<unknown> => {
      made.push(chipid);
      for (const began = performance.now(); performance.now() - began < 15;);
      return client.push(chipid, 'first', options);
    };
    const all = client.callEach([A, B, C, C], slow);
    assert.deepEqual(made, [A]);
    const later = client.push(C, 'later');
    assert.deepEqual(made, [A, C, C]);
    await Promise.all([all, later]);
    assert.deepEqual(made, [A, C, C, B]);
    assert.deepEqual(texts(C), ['first', 'first', 'later']);
  });

  it('send at most atOnce side by side, and those that fail do not end the others', async () => {
    const expire = heldTimers();
    service.fail('hang', { times: 2 });
    const chipids = Array.from({ length: 20 }, (_, index) => 10_000_001 + (index % 3));
    const batch = client.callEach(
      chipids,
      // Options that are copied have the limit, too.
      (chipid, options) => client.push(chipid, chipid === B ? '\ud800' : 'x', { ...options }),
      { atOnce: 2, timeout: HOUR },
    );
    await until(() => service.requests.length === 2);
    await delay(100);
    assert.equal(service.requests.length, 2);
    expire();
    assert.deepEqual(
      (await batch).map(code).map((each) => (typeof each === 'string' ? each : 'sent')),
      chipids.map((chipid, index) => {
        if (String(chipid) === B) return 'INVALID_INPUT';
        return index < 3 ? 'TIMEOUT' : 'sent';
      }),
    );
  });

  it('that are not made hold up nothing', async () => {
    const results = await client.callEach([A, B, C], (chipid) => {
      if (chipid === A) throw new Error('at once');
      return chipid === B ? Promise.reject(new Error('later')) : Promise.resolve('none');
    });
    assert.deepEqual(statuses(results), ['rejected', 'rejected', 'fulfilled']);
    await Promise.all([client.push(A, 'x'), client.push(B, 'x'), client.push(C, 'x')]);
    void client.callEach([A], () => new Promise(() => undefined));
    await client.push(A, 'y');
  });

  it('end when the signal aborts, also those that wait behind others', async () => {
    service.fail('hang', { chipid: A, times: 1 });
    const expire = heldTimers();
    const before = failure(client.push(A, 'before', { timeout: HOUR }), 'TIMEOUT');
    await until(() => service.requests.length === 1);
    const controller = new AbortController();
    const { signal } = controller;
    const batch = client.callEach([A, B], push('x'), { signal, atOnce: 1 });
    controller.abort('enough');
    const [first, second] = await batch;
    assert.equal(code(first), 'UNREACHABLE');
    assert.match(String((first as PromiseRejectedResult).reason), /Not sent: enough/);
    assert.ok(['UNREACHABLE', 'CONNECTION_LOST'].includes(String(code(second))));
    expire();
    await before;
    await client.push(A, 'y');
    assert.deepEqual(texts(A), ['y']);
  });

  it('end when the client is closed', async () => {
    service.fail('hang', { chipid: A });
    const running = client.callEach([A, B], push('x'), { atOnce: 1 });
    await until(() => service.requests.length === 1);
    const waiting = client.callEach([A, A], push('x'));
    await client.close();
    assert.deepEqual((await waiting).map(code), ['UNREACHABLE', 'UNREACHABLE']);
    // The second had its turn, and only waited for the first.
    assert.deepEqual((await running).map(code), ['CONNECTION_LOST', 'UNREACHABLE']);
    assert.equal(service.requests.length, 1);
  });

  it('fail where the queue is full, which the fleet shows', async () => {
    const results = await client.callEach(
      Array.from({ length: 102 }, () => A),
      push('x'),
    );
    assert.deepEqual(
      results
        .slice(0, 101)
        .map(code)
        .filter((each) => each === 'QUEUE_FULL'),
      [],
    );
    assert.equal(code(results[101]), 'QUEUE_FULL');
    assert.equal(client.fleet.device(A)?.lastError?.code, 'QUEUE_FULL');
  });

  it('have no gap after one that was not sent', async () => {
    client = clientOf(service.baseUrl, { deviceGap: 60_000 });
    await client.callEach([A], () => Promise.resolve());
    await client.push(A, 'at once');
    assert.deepEqual(texts(A), ['at once']);
  });

  it('show that one runs rather than that another waits', async () => {
    await start(5);
    const seen: string[] = [];
    const first = client.push(A, 'x');
    await client.callEach([A, B], push('y'), { onProgress: ({ state }) => seen.push(state) });
    await first;
    assert.deepEqual([seen[0], new Set(seen.slice(1))], ['waiting', new Set(['calling'])]);
  });

  for (const [what, args] of [
    ['a text instead of an array', ['10000001', push('x')]],
    ['an element that is not a chip number', [[A, 1.5], push('x')]],
    ['a text instead of a function', [[A], 'push']],
    ['an atOnce of 0', [[A], push('x'), { atOnce: 0 }]],
    ['an atOnce that is text', [[A], push('x'), { atOnce: '2' }]],
    ['an unknown time to send', [[A], push('x'), { when: 'later' as never }]],
    ['a signal of another type', [[A], push('x'), { signal: 1 }]],
  ] as const) {
    it(`with ${what} send nothing`, async () => {
      const callEach = client.callEach.bind(client) as (...args: unknown[]) => Promise<unknown>;
      await failure(callEach(...args), 'INVALID_INPUT');
      assert.equal(service.requests.length, 0);
      await client.push(A, 'y');
    });
  }
});

const ok = json({ status: 'online', msg: 'OK' });

describe('commands to one device', () => {
  it('of every kind wait for each other', async () => {
    const { service, client } = await simulated({ answerDelay: 2 });
    await Promise.all([
      client.push(CHIPID, 'x'),
      client.rtStatus(CHIPID, 'uptime'),
      client.gpioStatus(CHIPID),
      client.setGpioEdge(CHIPID, 1, 1),
      client.refresh(CHIPID),
      client.reboot(Number(CHIPID)),
    ]);
    assert.equal(service.device(CHIPID).maxInFlight, 1);
    const kinds = service.requests.map(({ path }) => path.split('/')[2]);
    assert.deepEqual(kinds, [
      'dev',
      'rt_status',
      'gpio_status',
      'set_gpio_edge',
      'manual_refresh',
      'reboot',
    ]);
  });

  it('do not wait for reads of the cloud, and reads do not wait for them', async () => {
    const { service, client } = await serving((response, request, count) => {
      (request.method === 'POST' ? hang : json([]))(response, request, count);
    });
    const command = failure(client.push(CHIPID, 'x'), 'CONNECTION_LOST');
    await until(() => service.requests.length === 1);
    assert.deepEqual((await client.uploadHistory(CHIPID)).body, []);
    await Promise.all([client.close(), command]);
  });

  it('have a time limit that begins with their turn', async () => {
    const expire = heldTimers();
    const answer = manual();
    const late: Script = (response, request, count) => {
      void answer.promise.then(() => ok(response, request, count));
    };
    const { service, client } = await serving(inSequence(late, ok));
    const first = client.push(CHIPID, 'a');
    const second = client.push(CHIPID, 'b', { timeout: HOUR });
    await until(() => service.requests.length === 1);
    expire();
    answer.resolve();
    assert.deepEqual((await Promise.all([first, second])).length, 2);
    assert.equal(service.requests.length, 2);
  });

  it('keep the configured gap', async () => {
    const times: number[] = [];
    const { client } = await serving(
      (response, request, count) => {
        times.push(performance.now());
        ok(response, request, count);
      },
      { deviceGap: 50 },
    );
    await Promise.all(['a', 'b', 'c'].map((text) => client.push(CHIPID, text)));
    const gaps = times.slice(1).map((time, index) => time - times[index]!);
    // Timers of Node.js may be a millisecond early.
    assert.ok(
      gaps.every((gap) => gap >= 48),
      `gaps of ${gaps.join(' and ')} ms`,
    );
  });
});
