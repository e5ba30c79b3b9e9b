import assert from 'node:assert/strict';
import { openRedisStore } from '../../../src/cluster/redis/redis-store';
import { StoreError, type Store } from '../../../src/cluster/store';
import { atEnd } from '../../../tooling/servers/at-end';
import { freePort } from '../../../tooling/servers/ports';
import { startRedis, type RedisProcess } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { redisCli } from './redis-cli';
import { storeContract } from './store-contract';

let applications = 0;

/** A store of a new application, connected. */
async function connected(url: string, limit = 5000): Promise<Store> {
  const store = await openRedisStore({ url, limit, application: String(++applications) });
  atEnd(() => store.close());
  await until(() =>
    store.load(['1']).then(
      () => true,
      () => false,
    ),
  );
  return store;
}

describe('a store on Redis', () => {
  let redis: RedisProcess;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.end());

  const url = (): string => `redis://127.0.0.1:${redis.port}`;

  storeContract(async () => ({
    store: await connected(url()),
    wipe: async () => void (await redisCli(redis.port, 'FLUSHALL')),
  }));

  it('says what would lose positions', async () => {
    const store = await connected(url());
    const { product, persistence, eviction, replicas } = await store.info();
    assert.deepEqual(
      [product, persistence, eviction, replicas],
      ['Redis', 'none', 'noeviction', 0],
    );
  });

  it('works after the engine has forgotten its scripts', async () => {
    const store = await connected(url());
    await store.unlock('1', 'x');
    await redisCli(redis.port, 'SCRIPT', 'FLUSH');
    await store.unlock('1', 'x');
  });
});

describe('a store on a Redis Cluster', () => {
  let redis: RedisProcess;
  before(async () => {
    // By itself it would take the port 10,000 above its own, which may be anybody's.
    const bus = await freePort();
    redis = await startRedis({
      config: ['cluster-enabled yes', 'cluster-announce-ip 127.0.0.1', `cluster-port ${bus}`],
    });
    await redisCli(redis.port, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await until(async () => /cluster_state:ok/.test(await redisCli(redis.port, 'CLUSTER', 'INFO')));
  });
  after(() => redis.end());

  const node = (): string => `redis://127.0.0.1:${redis.port}`;

  // Two addresses make it a cluster; a script that used keys of several places would be refused.
  storeContract(async () => ({
    store: await connected(`${node()},${node()}`),
    wipe: async () => void (await redisCli(redis.port, 'FLUSHALL')),
  }));
});

describe('a Redis that fails', () => {
  it('rejects every command in its time, and works again by itself', async () => {
    let redis = await startRedis();
    atEnd(() => redis.end());
    const { port } = redis;
    const store = await connected(`redis://127.0.0.1:${port}`, 200);
    const failure = (): Promise<unknown> => store.load(['1']).catch((error: unknown) => error);

    redis.stop();
    const failures = await Promise.all([failure(), failure(), failure()]);
    assert.ok(failures.every((error) => error instanceof StoreError && error.uncertain));
    await until(async () => {
      const error = await failure();
      return error instanceof StoreError && !error.uncertain;
    }, 'commands are certainly not sent');
    redis.cont();
    await until(async () => Array.isArray(await failure()), 'it works again');

    await redis.end();
    await until(async () => /ECONNREFUSED/.test(String(await failure())), 'it says why');
    redis = await startRedis({ port });
    await until(async () => Array.isArray(await failure()), 'it works on a new one');
  });
});
