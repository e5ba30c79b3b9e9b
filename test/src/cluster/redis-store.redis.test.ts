import assert from 'node:assert/strict';
import { openRedisStore } from '../../../src/cluster/redis/redis-store';
import { partitionOf, slotOf } from '../../../src/cluster/slots';
import { StoreError, type FencedEntry, type Store } from '../../../src/cluster/store';
import { atEnd } from '../../../tooling/servers/at-end';
import { ENGINE, startRedis, type RedisProcess } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { redisCli } from './redis-cli';
import { startRedisCluster } from './redis-cluster';
import { storeContract } from './store-contract';

let applications = 0;

/** A store of a new application, connected. */
async function connected(url: string, limit = 5000): Promise<Store> {
  const store = await openRedisStore({ url, limit, application: String(++applications) });
  atEnd(() => store.close());
  await until(() =>
    Promise.all([store.load(['1']), store.owners()]).then(
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

  it('reports settings that would lose positions', async () => {
    const store = await connected(url());
    const { product, persistence, eviction, replicas } = await store.info();
    assert.deepEqual([product, persistence, eviction, replicas], [ENGINE, 'none', 'noeviction', 0]);
  });

  describe('that has lost a part of its keys, or has foreign ones', () => {
    const chipid = '1';
    let application: string;

    /** A store, and an entry that the owner of the device's slot writes. */
    async function owned(): Promise<[Store, FencedEntry]> {
      const store = await connected(url());
      application = String(applications);
      const beat = { member: 'm', claims: ['devices'] as const, generation: 'g', lease: 5000 };
      const none = { holdings: [], release: [], dead: [] };
      const first = await store.beat({ ...beat, ...none, beat: 1, settled: undefined });
      const reply = await store.beat({ ...beat, ...none, beat: 2, settled: first?.incarnation });
      const held = reply?.mine.find(({ slot }) => slot === slotOf(chipid));
      assert.ok(held);
      return [store, { ...held, chipid, sequence: 1, position: 'p', upload: 'u' }];
    }
    const key = (name: string): string => `{device-cloud:${application}}:${name}`;
    const uploads = async (store: Store): Promise<string[]> =>
      [(await store.claim(chipid, 'x', 5)).upload].flatMap((upload) => upload?.text ?? []);

    it('continues from a position of a later epoch than any that it still has', async () => {
      const [store, entry] = await owned();
      await redisCli(redis.port, 'HSET', key('positions'), chipid, '9999 9 old');
      assert.deepEqual(await store.save('m', [entry]), ['saved']);
      assert.deepEqual([await store.load([chipid]), await uploads(store)], [['p'], ['u']]);
    });

    it('keeps no more than 64 MiB of dead letters, the newest ones', async () => {
      const [store, entry] = await owned();
      const upload = 'x'.repeat(25 * 1024 * 1024);
      for (let sequence = 1; sequence <= 3; sequence++) {
        assert.deepEqual(await store.save('m', [{ ...entry, sequence, upload }]), ['saved']);
        await store.claim(chipid, `${sequence}`, 1);
        const { isBuried } = await store.claim(chipid, `${sequence} again`, 1);
        assert.deepEqual(
          [isBuried, await store.queueState()],
          [true, { length: 0, deadLetters: Math.min(sequence, 2) }],
        );
      }
      // Emptied by hand.
      await redisCli(redis.port, 'DEL', key('dead-letters'));
      await store.save('m', [{ ...entry, sequence: 4 }]);
      await store.claim(chipid, 'a', 1);
      await store.claim(chipid, 'b', 1);
      assert.equal(await redisCli(redis.port, 'GET', key('dead-size')), '1\n');
    });

    it('ignores malformed members and slots', async () => {
      const [store] = await owned();
      await redisCli(redis.port, 'HSET', key('members'), 'ghost', 'junk', 'later', '3 dx 5000');
      await redisCli(redis.port, 'HSET', key('members'), 'foreign', '3 d 97200000');
      await redisCli(redis.port, 'HSET', key('members'), 'endless', `${'9'.repeat(400)} d 5000`);
      await redisCli(redis.port, 'HSET', key('slots'), '7', 'junk', 'junk', '1 m');
      await redisCli(redis.port, 'HSET', key('state'), 'top', 'junk');
      const request = { member: 'm', beat: 3, claims: ['devices'], generation: 'g' } as const;
      const none = { lease: 5000, holdings: [], release: [], dead: [], settled: undefined };
      const reply = await store.beat({ ...request, ...none });
      assert.deepEqual(reply?.members.map(({ member }) => member).sort(), ['later', 'm']);
      // Half of the devices; the slot that was overwritten is nobody's.
      assert.equal(reply?.surplus.devices, 127);
    });

    it('writes no position whose upload could not be appended', async () => {
      const [store, entry] = await owned();
      const stream = key(`queue:${partitionOf(chipid)}`);
      await redisCli(redis.port, 'SET', stream, 'not a stream');
      await assert.rejects(store.save('m', [entry]), StoreError);
      await redisCli(redis.port, 'DEL', stream);
      assert.deepEqual(await store.save('m', [entry]), ['saved']);
      assert.deepEqual(await uploads(store), ['u']);
    });
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
    redis = await startRedisCluster();
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
  it('has its error shown without the user and the password, although it contains them', async () => {
    const [user, password] = ['canary-user', 'Canary+Password%20='];
    const config = ['rename-command AUTH ""', 'rename-command HELLO ""'];
    const redis = await startRedis({ config });
    atEnd(() => redis.end());
    const url = `redis://127.0.0.1:${redis.port}`;
    const store = await openRedisStore({ url, user, password, limit: 500, application: '1' });
    atEnd(() => store.close());
    let said = '';
    await until(async () => {
      said = await store.load(['1']).then(String, String);
      return said.includes('unknown command');
    }, 'it has said why');
    assert.match(said, /'auth'/i);
    assert.doesNotMatch(said, /canary/i);
  });

  it('is reported as a replica, or as not ready yet, without advice on settings of the client library', async () => {
    const redis = await startRedis();
    atEnd(() => redis.end());
    const store = await connected(`redis://127.0.0.1:${redis.port}`);
    await redisCli(redis.port, 'REPLICAOF', '127.0.0.1', '1');
    const said: string[] = [];
    const isKnown = (text: string): boolean => /READONLY|is not ready/.test(text);
    await until(async () => {
      said.push(await store.leave('m').then(String, String));
      return said.length >= 30 && said.some((text) => text.includes('READONLY'));
    });
    assert.deepEqual(
      said.filter((text) => !isKnown(text)),
      [],
    );
  });

  it('has every command rejected within its time limit, and recovers without help', async () => {
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
