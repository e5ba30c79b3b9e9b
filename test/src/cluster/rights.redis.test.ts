import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster } from '../../../src/cluster/cluster';
import { openRedisStore } from '../../../src/cluster/redis/redis-store';
import type { Store } from '../../../src/cluster/store';
import { repository } from '../../../tooling/repository';
import { atEnd } from '../../../tooling/servers/at-end';
import { startRedis, type RedisProcess } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { redisCli } from './redis-cli';
import { startRedisCluster } from './redis-cluster';
import { storeContract } from './store-contract';

/** What the page gives a user: the words of `ACL SETUSER` after the name and the password. */
function documented(): string[] {
  const page = readFileSync(join(repository, 'docs', 'use', 'cluster.md'), 'utf8');
  const [, words] = /^ACL SETUSER device-cloud reset on '>PASSWORD' ([^`]+)```/m.exec(page) ?? [];
  assert.ok(words !== undefined, 'docs/use/cluster.md has an ACL');
  return words.replaceAll(/[\\']/g, ' ').trim().split(/\s+/);
}

describe('a user of the engine with few rights', () => {
  const login = { user: 'few', password: 'few-rights' };
  let redis: RedisProcess;
  let applications = 0;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.end());

  const allow = (rights: readonly string[]): Promise<string> =>
    redisCli(
      redis.port,
      'ACL',
      'SETUSER',
      login.user,
      'reset',
      'on',
      `>${login.password}`,
      ...rights,
    );

  async function open(database = 0): Promise<Store> {
    const url = `redis://127.0.0.1:${redis.port}/${database}`;
    const application = String(++applications);
    const store = await openRedisStore({ url, ...login, application, limit: 5000 });
    atEnd(() => store.close());
    return store;
  }
  /** What is forbidden to a new connection, as soon as there is one. */
  async function forbidden(database?: number): Promise<string[]> {
    const store = await open(database);
    const look = (): Promise<string[] | undefined> => store.forbidden().catch(() => undefined);
    let rights: string[] | undefined;
    await until(async () => (rights = await look()) !== undefined, 'it answers');
    return rights ?? [];
  }

  describe('as documented', () => {
    before(() => allow(documented()));
    storeContract(async () => {
      const store = await open();
      await until(() =>
        store.forbidden().then(
          (rights) => rights.length === 0,
          () => false,
        ),
      );
      return { store, wipe: async () => void (await redisCli(redis.port, 'FLUSHALL')) };
    });
  });

  it('is shown each one that is missing', async () => {
    const rights = documented();
    assert.ok(rights.length > 20);
    for (const right of rights) {
      await allow(rights.filter((each) => each !== right));
      assert.deepEqual(await forbidden(), [right]);
    }
    await allow([...rights.filter((each) => !each.startsWith('~')), '~other:*']);
    assert.deepEqual(await forbidden(), ['~{device-cloud:*']);
    await allow(['allkeys', 'allchannels', '+@all', '-@dangerous']);
    assert.deepEqual(await forbidden(), ['+info']);
  });

  it('needs one more for another database, which has to exist', async () => {
    await allow(documented());
    assert.deepEqual(await forbidden(1), ['+select']);
    await allow([...documented(), '+select']);
    assert.deepEqual(await forbidden(1), []);
    const store = await open(99);
    await until(async () =>
      /DB index is out of range/.test(await store.info().then(String, String)),
    );
  });

  it('needs two more for a Redis Cluster, without which it says what is missing', async () => {
    const node = await startRedisCluster();
    atEnd(() => node.end());
    const url = `redis://127.0.0.1:${node.port}`;
    const look = async (more: readonly string[], expected: RegExp): Promise<void> => {
      const words = ['reset', 'on', `>${login.password}`, ...documented(), ...more];
      await redisCli(node.port, 'ACL', 'SETUSER', login.user, ...words);
      const options = { url: `${url},${url}`, ...login, application: '1', limit: 1000 };
      const store = await openRedisStore(options);
      atEnd(() => store.close());
      const said = (): Promise<string> =>
        store.forbidden().then((rights) => `forbidden: ${rights.join()};`, String);
      await until(async () => expected.test(await said()), String(expected));
    };
    await look(['+cluster|slots', '+cluster|info'], /forbidden: ;/);
    await look(['+cluster|slots'], /forbids CLUSTER INFO/);
    await look([], /'cluster\|slots' command/);
  });

  it('has nothing left behind by the check', async () => {
    await redisCli(redis.port, 'FLUSHALL');
    await allow(documented());
    assert.deepEqual(await forbidden(), []);
    assert.equal((await redisCli(redis.port, 'DBSIZE')).trim(), '0');
  });

  /** A member, and what it has said so far. */
  async function member(): Promise<{ cluster: Cluster; faults: string[] }> {
    const cluster = new Cluster({ store: await open(), lease: 1 });
    atEnd(() => cluster.close());
    const faults: string[] = [];
    cluster.listen({ onFault: (fault) => faults.push(fault) });
    return { cluster, faults };
  }
  const without = (right: string): Promise<string> =>
    allow(documented().filter((each) => each !== right));
  const saysMissing = (faults: readonly string[], right: string): Promise<void> =>
    until(() => faults.some((fault) => fault.endsWith(`missing in its ACL: ${right}.`)));

  it('has missing rights logged, whether the cluster works or not', async () => {
    for (const right of ['+subscribe', '+info']) {
      await without(right);
      const { faults } = await member();
      await saysMissing(faults, right);
      assert.ok(!faults.some((fault) => /few-rights|cannot be reached/.test(fault)), faults.join());
    }
  });

  it('has a revoked right reported at once, and recovers when it is granted', async () => {
    await allow(documented());
    const { cluster, faults } = await member();
    await until(() => cluster.state === 'member');
    await without('+evalsha');
    await saysMissing(faults, '+evalsha');
    assert.equal(cluster.state, 'awaiting');
    assert.equal(cluster.problem?.setting, 'rights');
    await allow(documented());
    await until(() => cluster.state === 'member');
    assert.equal(cluster.problem, undefined);
  });
});
