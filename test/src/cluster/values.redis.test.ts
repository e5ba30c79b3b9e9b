import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Cluster } from '../../../src/cluster/cluster';
import { openRedisStore } from '../../../src/cluster/redis/redis-store';
import type { Store } from '../../../src/cluster/store';
import { SharedValue } from '../../../src/cluster/values';
import { atEnd } from '../../../tooling/servers/at-end';
import { startRedis, type RedisProcess } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { failure } from '../support/failure';
import { redisCli } from './redis-cli';

const NAME = 'history-positions-n';
const KEY = `{device-cloud:1}:value:${NAME}`;

/** What did not reach the engine in time is written with the next attempt. */
const written = (value: SharedValue, content: object): Promise<void> =>
  until(() =>
    value.write(content).then(
      () => true,
      () => false,
    ),
  );

describe('a value of a node that several processes keep', () => {
  let redis: RedisProcess;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.end());

  /** A process with the value, which is a member. @param limit of each command, in ms */
  async function start(
    limit = 400,
  ): Promise<{ cluster: Cluster; store: Store; value: SharedValue }> {
    const url = `redis://127.0.0.1:${redis.port}`;
    const store = await openRedisStore({ url, application: '1', limit });
    const cluster = new Cluster({ store, lease: 0.6 });
    const value = new SharedValue(cluster, NAME);
    atEnd(async () => {
      value.close();
      await cluster.close();
    });
    await until(() => cluster.state === 'member');
    return { cluster, store, value };
  }
  const stored = async (): Promise<object> => {
    const { value } = await start(5000);
    return value.read();
  };

  it('is read by a process that starts later: properties, objects and lists, empty ones too', async () => {
    const { value } = await start();
    assert.deepEqual(await value.read(), {});
    const positions = { 'uploads:1': { keys: ['a|1'] }, 'sync:a/b': { keys: [] }, forgotten: true };
    const lists = {
      appid: '9',
      devices: [
        ['1', true, null],
        ['2', false, 7],
      ],
      none: [],
    };
    await value.write({ ...positions, ...lists });
    assert.deepEqual(await stored(), { ...positions, ...lists });
    assert.ok(Number(await redisCli(redis.port, 'PTTL', KEY)) > 59 * 24 * 3600_000);
    // Other processes may have the node still.
    await value.remove();
    assert.deepEqual(await stored(), { ...positions, ...lists });
  });

  it('has what each process has written: neither undoes what the other has changed', async () => {
    const [one, two] = [await start(), await start()];
    await one.value.write({
      a: { n: 1 },
      b: { n: 1 },
      seen: [
        ['1', 1],
        ['2', 1],
      ],
    });
    assert.deepEqual(await two.value.read(), {
      a: { n: 1 },
      b: { n: 1 },
      seen: [
        ['1', 1],
        ['2', 1],
      ],
    });
    await two.value.write({
      a: { n: 1 },
      b: { n: 2 },
      seen: [
        ['1', 1],
        ['2', 2],
      ],
    });
    // What it knows of b and of the second is old by now, and has not changed since.
    await one.value.write({
      a: { n: 3 },
      b: { n: 1 },
      seen: [
        ['1', 3],
        ['2', 1],
      ],
    });
    const both = {
      a: { n: 3 },
      b: { n: 2 },
      seen: [
        ['1', 3],
        ['2', 2],
      ],
    };
    assert.deepEqual(await stored(), both);
    assert.deepEqual(await two.value.refresh(['a']), {
      ...both,
      seen: [
        ['1', 1],
        ['2', 2],
      ],
    });
    assert.deepEqual(await two.value.refresh(), both);
  });

  it('is read again with what this process is about to write, even if that has changed meanwhile', async () => {
    const [one, two] = [await start(), await start()];
    await one.value.write({ a: { n: 1 }, b: { n: 1 } });
    await two.value.read();
    let positions = { a: { n: 1 }, b: { n: 1 } };
    const reading = two.value.refresh(['a', 'b'], () => positions);
    positions = { a: { n: 2 }, b: { n: 1 } };
    assert.deepEqual(await reading, { a: { n: 2 }, b: { n: 1 } });
    await one.value.write({ b: { n: 3 } });
    assert.deepEqual(await two.value.refresh(['b'], () => positions), { a: { n: 2 }, b: { n: 3 } });
    await two.value.write(positions);
    assert.deepEqual(await one.value.refresh(['a']), { a: { n: 2 }, b: { n: 3 } });
  });

  it('is written in commands of limited size, and only what has changed', async () => {
    const { store, value } = await start();
    const seen = Array.from({ length: 1200 }, (_, n) => [`${n}`, 1]);
    const write = mock.method(store.values, 'write');
    await value.write({ appid: '9', seen });
    assert.deepEqual(
      write.mock.calls.map(({ arguments: [, , fields] }) => fields.length),
      [500, 500, 202],
    );
    await value.write({ appid: '9', seen: seen.map(([n, at]) => [n, n === '7' ? 2 : at]) });
    assert.deepEqual(
      write.mock.calls[3]?.arguments[2].map(({ field }) => field),
      ['seen/7'],
    );
    await value.write({ appid: '9', seen });
    await value.write({
      large: { text: 'x'.repeat(300_000) },
      larger: { text: 'y'.repeat(300_000) },
    });
    assert.equal(write.mock.callCount(), 7);
  });

  it('has at most about 10,000 devices, of which those are forgotten that changed longest ago', async () => {
    // What a busy engine has not taken in time is written again, and then has nothing left to be forgotten.
    const { cluster, value } = await start(5000);
    const faults: string[] = [];
    cluster.listen({ onFault: (fault) => faults.push(fault) });
    const listOf = (first: number, count: number): unknown[] =>
      Array.from({ length: count }, (_, n) => [`${first + n}`, 1]);
    await written(value, { seen: listOf(0, 6000) });
    await written(value, { seen: listOf(6000, 4600) });
    assert.match(faults.join(), /more than 10000 devices/);
    for (const known of [await stored(), await value.refresh([])]) {
      const seen = new Set((known as { seen: [string, number][] }).seen.map(([n]) => n));
      assert.ok(seen.size >= 10_000 && seen.size < 10_500, `${seen.size}`);
      assert.ok(seen.has('10599') && seen.has('1500') && !seen.has('1'));
    }
  });

  it('is complete once the engine can be reached again, whatever has changed meanwhile', async () => {
    const { value } = await start();
    await value.write({ a: { n: 1 } });
    redis.stop();
    await failure(value.write({ a: { n: 1 }, b: { n: 1 } }), 'UNREACHABLE');
    await failure(value.refresh(['b']), 'UNREACHABLE');
    // A later change does not name it any more.
    await failure(value.write({ a: { n: 2 } }), 'UNREACHABLE');
    redis.cont();
    await written(value, { c: { n: 1 } });
    assert.deepEqual(await stored(), { a: { n: 2 }, b: { n: 1 }, c: { n: 1 } });
  });

  it('is put back into an engine that has lost it, with the newest that any process knows', async () => {
    const [one, two] = [await start(), await start()];
    await one.value.write({ a: { n: 1 }, b: { n: 1 } });
    await two.value.read();
    await two.value.write({ b: { n: 2 }, c: { n: 2 } });
    const { port } = redis;
    await redis.end();
    redis = await startRedis({ port });
    await until(async () => {
      const found = await one.store.values.read(NAME).catch(() => []);
      return found.length === 3;
    }, 'it is there again');
    await until(() => one.cluster.state === 'member' && two.cluster.state === 'member');
    assert.deepEqual(await stored(), { a: { n: 1 }, b: { n: 2 }, c: { n: 2 } });
  });

  it('is written before the membership ends, though both are closed at the same time', async () => {
    const { cluster, value } = await start();
    const closing = cluster.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await value.write({ a: { n: 1 } });
    value.close();
    await closing;
    assert.deepEqual(await stored(), { a: { n: 1 } });
  });
});
