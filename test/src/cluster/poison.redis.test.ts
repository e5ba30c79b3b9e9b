import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { Cluster } from '../../../src/cluster/cluster';
import { openRedisStore } from '../../../src/cluster/redis/redis-store';
import { uploadToText } from '../../../src/cluster/messages';
import { keep, type Child } from '../../../tooling/process';
import { atEnd } from '../../../tooling/servers/at-end';
import { startRedis } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { redisCli } from './redis-cli';

/** How often an upload may be delivered here; fewer than usual, since each time a process dies. */
const ATTEMPTS = 3;

const GOOD = Array.from({ length: 100 }, (_, index) => String(index));
const NUMBERS = [1, 2, 3, 4, 5];

interface Line {
  chipid: string;
  text: string;
  redelivered: boolean;
}

describe('processes that work on a queue on a real server', () => {
  it('survive an upload that ends each of them, lose no other, and keep the order of each device', async () => {
    const redis = await startRedis();
    atEnd(() => redis.end());
    const url = `redis://127.0.0.1:${redis.port}`;
    const store = await openRedisStore({ url, application: '1' });
    atEnd(() => store.close());
    const cluster = new Cluster({ store, lease: 2 });
    atEnd(() => cluster.close());
    cluster.claims.use('listens');

    const file = join(__dirname, 'working-process.js');
    const all: Child[] = [];
    const start = (): Child => {
      const child = keep('worker', fork(file, [url, String(ATTEMPTS)], { stdio: 'pipe' }));
      all.push(child);
      return child;
    };
    let running = [start(), start(), start()];
    atEnd(() => Promise.all(running.map((child) => child.end('SIGKILL').catch(() => undefined))));
    const lines = (): Line[] =>
      all.flatMap((child) =>
        child
          .log()
          .split('\n')
          .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : [])),
      );

    await until(() => cluster.members.length === 4, 'all have joined');
    await until(() => cluster.mayEmit('1'));
    const append = (chipid: string, text: string): Promise<void> => {
      const upload = { chipid, appid: '9', timestamp: 1, body: Buffer.from(text) };
      cluster.positions.append(chipid, text, uploadToText(upload));
      return cluster.positions.flush();
    };
    for (const number of NUMBERS) {
      await Promise.all(GOOD.map((chipid) => append(chipid, String(number))));
      if (number === 1) await append('1000', 'poison');
    }
    await append('1000', 'after it');
    await until(
      async () => {
        // Those that died are started again.
        running = running.map((child) => (child.pid() === undefined ? start() : child));
        return (await store.queueState().catch(() => undefined))?.length === 0;
      },
      'all is handled',
      50_000,
    );
    assert.deepEqual(await store.queueState(), { length: 0, deadLetters: 1 });
    assert.match(
      await redisCli(redis.port, 'XRANGE', '{device-cloud:1}:dead-letters', '-', '+'),
      new RegExp(`chipid\\s+1000[^]*${Buffer.from('poison').toString('base64')}[^]*attempts\\s+3`),
    );
    const given = lines();
    const marks = (chipid: string, text: string): boolean[] =>
      given
        .filter((line) => line.chipid === chipid && line.text === text)
        .map(({ redelivered }) => redelivered);
    assert.deepEqual(marks('1000', 'poison').sort(), [false, true, true]);
    assert.equal(marks('1000', 'after it').length, 1);
    for (const chipid of GOOD)
      for (const number of NUMBERS) {
        const each = marks(chipid, String(number));
        assert.ok(each.length > 0);
        // One that was about to be delivered when its process died is marked, too.
        assert.ok(each.filter((isMarked) => !isMarked).length <= 1);
      }
    for (const child of running)
      for (const chipid of GOOD) {
        const texts = [...child.log().matchAll(/^\{"chipid":"(\d+)","text":"(\d)"/gm)]
          .filter(([, by]) => by === chipid)
          .map(([, , text = '']) => text);
        assert.deepEqual(texts, [...texts].sort());
      }
  });
});
