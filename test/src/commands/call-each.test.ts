import assert from 'node:assert/strict';
import type {
  CallOptions,
  CommandOptions,
  DeviceCloudClient,
  RequestOptions,
} from '../../../src/index';
import type { Simulator } from '../../../src/simulator';
import { clientOf, simulator } from '../support/client';
import { failure } from '../support/failure';
import { until } from '../../../tooling/until';

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

  it('run at most atOnce side by side, and those that fail do not end the others', async () => {
    await start(5);
    let [running, most] = [0, 0];
    const chipids = Array.from({ length: 20 }, (_, index) => 10_000_001 + (index % 3));
    const results = await client.callEach(
      chipids,
      async (chipid, options) => {
        most = Math.max(most, ++running);
        try {
          return await client.push(chipid, chipid === B ? '\ud800' : 'x', options);
        } finally {
          running--;
        }
      },
      { atOnce: 2 },
    );
    assert.equal(most, 2);
    assert.deepEqual(
      results.map((result) => code(result) === 'INVALID_INPUT'),
      chipids.map((chipid) => String(chipid) === B),
    );
  });

  it('have the other options of all', async () => {
    const seen: CommandOptions[] = [];
    await client.callEach([A], (_, options) => Promise.resolve(seen.push(options)), {
      ...{ atOnce: 3, timeout: 7, format: 'HEX' as const },
    });
    assert.equal(seen[0]?.place?.chipid, A);
    assert.deepEqual({ ...seen[0], place: 0 }, { place: 0, timeout: 7, format: 'HEX' });
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
    const before = failure(client.push(A, 'before', { timeout: 2 }), 'TIMEOUT');
    await until(() => service.requests.length === 1);
    const controller = new AbortController();
    const { signal } = controller;
    const batch = client.callEach([A, B], push('x'), { signal, atOnce: 1 });
    controller.abort('enough');
    const [first, second] = await batch;
    assert.equal(code(first), 'UNREACHABLE');
    assert.match(String((first as PromiseRejectedResult).reason), /not sent: enough/);
    assert.ok(['UNREACHABLE', 'CONNECTION_LOST'].includes(String(code(second))));
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

  it('end when the signal aborts because one of them waits', async () => {
    service.fail('hang', { chipid: A, times: 1 });
    const before = failure(client.push(A, 'before', { timeout: 1 }), 'TIMEOUT');
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = (): void => controller.abort('busy');
    const [result] = await client.callEach([A], push('x'), { signal, onProgress });
    assert.equal(code(result), 'UNREACHABLE');
    await before;
    await client.push(A, 'y');
    assert.deepEqual(texts(A), ['y']);
  });

  it('may be made without their places, at the end of the queue', async () => {
    const later = client.callEach([A], (chipid) => client.push(chipid, 'second'));
    const inside = client.callEach([B], (chipid) => client.callEach([chipid], push('inside')));
    await Promise.all([later, inside]);
    assert.deepEqual([texts(A), texts(B)], [['second'], ['inside']]);
  });

  for (const place of [undefined, null]) {
    it(`have their places although the options have ${String(place)}`, async () => {
      const options = { place } as unknown as CallOptions;
      assert.deepEqual(statuses(await client.callEach([A], push('x'), options)), ['fulfilled']);
    });
  }

  it('have inherited options', async () => {
    const inherited = { signal: AbortSignal.abort('enough'), atOnce: 0 };
    const options = Object.create(inherited) as typeof inherited;
    await failure(client.callEach([A], push('x'), options), 'INVALID_INPUT');
    inherited.atOnce = 1;
    const [result] = await client.callEach([A], push('x'), options);
    assert.match(String((result as PromiseRejectedResult).reason), /not sent: enough/);
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
    ['a time to wait for the device', [[A], push('x'), { when: 'online' }]],
    ['a signal of another type', [[A], push('x'), { signal: 1 }]],
    ['a place of its own', [[A], push('x'), { place: { chipid: A } }]],
  ] as const) {
    it(`with ${what} send nothing`, async () => {
      const callEach = client.callEach.bind(client) as (...args: unknown[]) => Promise<unknown>;
      await failure(callEach(...args), 'INVALID_INPUT');
      assert.equal(service.requests.length, 0);
      await client.push(A, 'y');
    });
  }

  describe('have places that', () => {
    /** Makes a call to `A` with the place of a batch. @returns the code with which it failed */
    const misused = (use: (options: CommandOptions) => Promise<unknown>): Promise<unknown> =>
      client.callEach([A], (_, options) => use(options)).then(([result]) => code(result));
    afterEach(async () => void (await client.push(A, 'the queue is free')));

    it('can be used once', async () => {
      const twice = (options: CommandOptions): Promise<unknown> =>
        client.push(A, 'x', options).then(() => client.push(A, 'y', options));
      assert.equal(await misused(twice), 'INVALID_INPUT');
      let late: CommandOptions = {};
      await misused((options) => Promise.resolve((late = options)));
      await failure(client.push(A, 'x', late), 'INVALID_INPUT');
    });

    it('are for a call to that device that is made now', async () => {
      assert.equal(await misused((options) => client.push(B, 'x', options)), 'INVALID_INPUT');
      const later = (options: CommandOptions) =>
        client.push(A, 'x', { ...options, when: 'online' });
      assert.equal(await misused(later), 'INVALID_INPUT');
      const all = (options: CommandOptions) => client.pushToApp('x', options);
      assert.equal(await misused(all), 'INVALID_INPUT');
      assert.equal(await misused((options) => client.devices(options)), 'INVALID_INPUT');
      const server = (options: CommandOptions) => client.serverUpdate(A, {}, options);
      assert.equal(await misused(server), 'INVALID_INPUT');
      const request = ({ place }: CommandOptions) =>
        client.request(A, 'x', { place, match: 'next' } as RequestOptions);
      assert.equal(await misused(request), 'INVALID_INPUT');
    });

    it('belong to one client', async () => {
      const other = clientOf(service.baseUrl);
      assert.equal(await misused((options) => other.push(A, 'x', options)), 'INVALID_INPUT');
    });
  });
});
