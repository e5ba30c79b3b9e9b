import assert from 'node:assert/strict';
import type { Bus } from '../../../src/cluster/messages';
import { Cluster } from '../../../src/cluster/cluster';
import { entryOf } from './memory-store';
import { openRedisStore, type RedisStoreSettings } from '../../../src/cluster/redis/redis-store';
import { isDeviceCloudError } from '../../../src/errors';
import { atEnd } from '../../../tooling/servers/at-end';
import { startRedis, startSentinel, type RedisProcess } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { manual } from '../support/manual';
import { redisCli } from './redis-cli';

const DEVICES = Array.from({ length: 60 }, (_, index) => String(1000 + index));

/** Seconds; short, since nothing else is to be done meanwhile. */
const LEASE = 1;

async function join(options: Omit<RedisStoreSettings, 'application'>): Promise<Cluster> {
  const store = await openRedisStore({ ...options, application: '7', limit: 400 });
  atEnd(() => store.close());
  const cluster = new Cluster({ store, lease: LEASE });
  atEnd(() => cluster.close());
  cluster.claims.use('listens');
  return cluster;
}

const emitting = (cluster: Cluster): string[] =>
  DEVICES.filter((chipid) => cluster.mayEmit(chipid));

/** Waits until these members emit for all devices, each one for its share. */
const shared = (...clusters: Cluster[]): Promise<void> =>
  until(
    () =>
      clusters.every((cluster) => emitting(cluster).length > 0) &&
      clusters.flatMap(emitting).length === DEVICES.length,
    `${clusters.length} members share the devices`,
  );

describe('a cluster on a real server', () => {
  let redis: RedisProcess;
  let url: string;
  beforeEach(async () => {
    redis = await startRedis();
    url = `redis://127.0.0.1:${redis.port}`;
  });
  afterEach(() => redis.end());

  it('shares devices and positions, and passes them on when a member leaves', async () => {
    const [a, b] = await Promise.all([join({ url }), join({ url })]);
    await shared(a, b);
    assert.deepEqual([...a.members].sort(), [a.member, b.member].sort());
    const [mine] = emitting(a);
    assert.ok(mine !== undefined);
    a.positions.save(mine, 'here');
    a.positions.save(emitting(b)[0]!, 'not mine');
    await a.close();
    await shared(b);
    assert.equal(await b.positions.load(mine), 'here');
    assert.equal(await b.positions.load(emitting(b).find((chipid) => chipid !== mine)!), undefined);
  });

  it('emits nothing while the server is stopped, and continues afterwards', async () => {
    const cluster = await join({ url });
    await shared(cluster);
    const epochs = DEVICES.map((chipid) => cluster.epochOf(chipid));
    let resumed = 0;
    cluster.listen({ onResumed: () => resumed++ });
    redis.stop();
    await until(() => cluster.state === 'awaiting', 'its time is over');
    assert.deepEqual([emitting(cluster), cluster.owns(DEVICES[0]!)], [[], true]);
    await assert.rejects(
      cluster.locks.run('1', 100, () => Promise.resolve()),
      (error) => isDeviceCloudError(error, 'UNREACHABLE') && !error.uncertain,
    );
    redis.cont();
    await shared(cluster);
    await until(() => resumed > 0);
    assert.deepEqual(
      DEVICES.map((chipid) => cluster.epochOf(chipid)),
      epochs,
    );
  });

  it('restores everything in a server that was restarted without its content', async () => {
    const cluster = await join({ url });
    await shared(cluster);
    const epochs = DEVICES.map((chipid) => cluster.epochOf(chipid));
    cluster.positions.save('1000', 'here');
    await until(() => has(redis.port, 'here'), 'it is written');
    const { port } = redis;
    await redis.end();
    redis = await startRedis({ port });
    await until(() => has(redis.port, 'here'), 'it is restored');
    await shared(cluster);
    assert.deepEqual(
      DEVICES.map((chipid) => cluster.epochOf(chipid)),
      epochs,
    );
  });

  it('sends one command to a device at a time, from whichever member', async () => {
    const clusters = await Promise.all([join({ url }), join({ url }), join({ url })]);
    await shared(...clusters);
    let [running, most, done] = [0, 0, 0];
    const command = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      done++;
    };
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => clusters[index % 3]!.locks.run('1', 1000, command)),
    );
    assert.deepEqual([done, most], [30, 1]);
  });

  it('delivers an upload of the queue to a working member until any member acknowledges it', async () => {
    const [a, b] = await Promise.all([join({ url }), join({ url })]);
    await shared(a, b);
    const job = manual<string>();
    const seen: string[] = [];
    b.work({
      deliver: ({ upload, token }) => {
        seen.push(String(upload.body));
        if (seen.length === 1) job.resolve(token);
      },
    });
    const [mine] = emitting(a);
    assert.ok(mine !== undefined);
    a.positions.append(mine, '1', entryOf('one'));
    a.positions.append(mine, '2', entryOf('two'));
    const token = await job.promise;
    assert.deepEqual(seen, ['one']);
    assert.deepEqual([await a.acknowledge(token), await a.acknowledge(token)], [true, false]);
    await until(() => seen.includes('two'));
  });

  it('sends messages to one member, and to all others', async () => {
    const [a, b] = await Promise.all([join({ url }), join({ url })]);
    await shared(a, b);
    const [from, to] = [a, b].map((each) => each.openBus()) as [Bus, Bus];
    const heard: unknown[] = [];
    to.on('x', (data, sender) => heard.push([data, sender]));
    from.on('x', () => heard.push('its own'));
    for (const receiver of [b.member, undefined]) {
      const before = heard.length;
      await until(async () => {
        await from.send(receiver, 'x', { y: 1 });
        return heard.length > before;
      });
    }
    assert.deepEqual(heard[0], [{ y: 1 }, a.member]);
    assert.ok(!heard.includes('its own'));
    from.close();
    to.close();
  });
});

/** Whether a hash of an engine has a value that ends with a text. */
async function has(port: number, end: string): Promise<boolean> {
  const keys = (await redisCli(port, 'KEYS', '*')).split('\n').slice(0, -1);
  const values = await Promise.all(keys.map((key) => redisCli(port, 'HVALS', key).catch(() => '')));
  return values
    .join('')
    .split('\n')
    .some((value) => value.endsWith(end));
}

describe('a cluster behind Sentinels', () => {
  it('continues with the replica that replaces the primary', async () => {
    const primary = await startRedis();
    atEnd(() => primary.end('SIGKILL').catch(() => undefined));
    const replica = await startRedis({ config: [`replicaof 127.0.0.1 ${primary.port}`] });
    atEnd(() => replica.end());
    const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(primary.port)));
    for (const sentinel of sentinels) atEnd(() => sentinel.end());
    const addresses = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(', ');
    const cluster = await join({ sentinels: addresses, master: 'primary' });
    await shared(cluster);
    cluster.positions.save('1000', 'here');
    await until(async () => (await cluster.positions.load('1000')) === 'here');
    await Promise.all(
      sentinels.map((sentinel) => sentinel.child.logged(/\+slave slave 127\.0\.0\.1/)),
    );
    // It follows the primary in its own time.
    await until(() => has(replica.port, 'here'), 'the replica has the position');
    primary.stop();
    await until(() => cluster.state === 'awaiting', 'its time is over');
    await shared(cluster);
    // The connection for large answers notices only now that its engine is silent.
    const load = (): Promise<string | undefined> =>
      cluster.positions.load('1000').catch(() => undefined);
    await until(async () => (await load()) === 'here', 'the replica gives the position');
    assert.match(replica.child.log(), /(MASTER|PRIMARY) MODE enabled/);
    primary.cont();
  });

  const login = { user: 'few', password: 'Sentinel+Canary' };
  const WANTED: readonly [what: string, user: string | undefined, config: readonly string[]][] = [
    ['no password', undefined, []],
    ['no password, though the engine has users', login.user, []],
    ['the password', undefined, [`requirepass ${login.password}`]],
    ['the password without the user', login.user, [`requirepass ${login.password}`]],
    [
      'the user and the password',
      login.user,
      ['user default off', `user ${login.user} on >${login.password} ~* &* +@all`],
    ],
  ];
  for (const [what, user, config] of WANTED) {
    it(`finds the primary through Sentinels that require ${what}`, async () => {
      const { password } = login;
      const own =
        user === undefined ? `requirepass ${password}` : `user ${user} on >${password} ~* &* +@all`;
      const primary = await startRedis({ config: [own] });
      atEnd(() => primary.end());
      const sentinel = await startSentinel(primary.port, config);
      atEnd(() => sentinel.end());
      const sentinels = `127.0.0.1:${sentinel.port}`;
      const given = { password, ...(user === undefined ? {} : { user }) };
      await shared(await join({ sentinels, master: 'primary', ...given }));
    });
  }

  it('reports that the Sentinels refuse the password, without showing it', async () => {
    const primary = await startRedis();
    atEnd(() => primary.end());
    const sentinel = await startSentinel(primary.port, ['requirepass other']);
    atEnd(() => sentinel.end());
    const { password } = login;
    const sentinels = `127.0.0.1:${sentinel.port}`;
    const options = { sentinels, master: 'primary', password, application: '7', limit: 1000 };
    const store = await openRedisStore(options);
    atEnd(() => store.close());
    const said = (): Promise<string> => store.owners().then(String, String);
    await until(async () => /NOAUTH|WRONGPASS/.test(await said()), 'the store knows why');
    const cluster = new Cluster({ store, lease: LEASE });
    atEnd(() => cluster.close());
    const faults: string[] = [];
    cluster.listen({ onFault: (fault) => faults.push(fault) });
    await until(() => faults.length > 0);
    assert.match(faults.join(), /cannot be reached: .*sentinels.*(NOAUTH|WRONGPASS)/);
    assert.doesNotMatch(faults.join(), /Canary/);
  });
});
