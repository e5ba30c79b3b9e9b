import assert from 'node:assert/strict';
import { Cluster, readBeat } from '../../../src/cluster/cluster';
import type { Engine } from '../../../src/cluster/engine';
import type { EngineSettings } from '../../../src/protocol/engine-address';
import { NotSent } from '../../../src/cluster/calls';
import { keysOf } from '../../../src/cluster/scripts';
import { SharedStore, SHARES, shareOf } from '../../../src/store/shared';
import { atEnd } from '../../tooling/servers/at-end';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { until } from '../../tooling/until';
import { HOUR } from '../../support/held-timers';
import { describeOnRedis, openEngine } from '../../support/redis';

const LEASE = 1000;

interface Member {
  readonly cluster: Cluster;
  readonly store: SharedStore;
  /** The shares that have begun and not ended. */
  readonly begun: Set<number>;
  wants: boolean;
}

describe('an answer to a beat', () => {
  const members = '"members":null,"shares":{},"time":1';
  const shares = '"members":{},"shares":[],"time":1';
  for (const text of ['', 'null', '[]', '{}', `{${members}}`, `{${shares}}`])
    it(`is not ${text || 'empty'}`, () =>
      assert.throws(() => readBeat(text), /neither Redis nor Valkey/));
});

describeOnRedis('processes that share an application', () => {
  let redis: RedisProcess;
  beforeEach(async () => {
    redis = await startRedis();
    atEnd(() => redis.end());
  });

  /** A connection to the engine beside those of the members. */
  const connected = async (): Promise<Engine> => {
    const engine = await openEngine({ url: redis.url });
    atEnd(() => engine.close());
    return engine;
  };

  async function joins(
    onStore: (store: SharedStore) => void = () => undefined,
    login: Pick<EngineSettings, 'user' | 'password'> = {},
  ): Promise<Member> {
    const store = new SharedStore();
    onStore(store);
    const begun = new Set<number>();
    const member = { store, begun, wants: true } as Member & { cluster: Cluster };
    member.cluster = await Cluster.open({ url: redis.url, lease: LEASE, ...login }, '1', store, {
      begin: (share) => {
        assert.ok(!member.begun.has(share));
        member.begun.add(share);
      },
      end: (share) => assert.ok(member.begun.delete(share)),
      finish: () => Promise.resolve(),
      ...{ wants: () => member.wants, settings: {} },
      handle: async (name, chipid) => `${name} ${chipid} at ${member.cluster.id}`,
      onOrphan: () => undefined,
    });
    atEnd(() => member.cluster.close());
    return member;
  }
  const haveAll = (members: readonly Member[], what: string): Promise<void> =>
    until(() => {
      const parts = members.map(({ begun }) => [...begun]);
      const isFair = parts.every(({ length }) => length >= Math.floor(SHARES / parts.length));
      return isFair && new Set(parts.flat()).size === SHARES;
    }, what);

  it('have no problem while they connect', async () => {
    const problems = new Set<string | undefined>();
    const member = await joins((store) => store.onProblem.add(() => problems.add(store.problem)));
    await haveAll([member], 'it has all');
    assert.deepEqual([...problems], [undefined]);
  });

  it('divide it, give a part to one that joins, take what one leaves, and find all that was kept', async () => {
    const first = await joins();
    assert.equal(first.cluster.state, 'joining');
    await haveAll([first], 'it has all');
    assert.equal(first.cluster.state, 'joined');
    for (let chip = 0; chip < 300; chip++) void first.store.set(`pin:${chip}:5`, { chip });
    assert.equal(await first.store.set('pin:300:5', 'last'), true);
    const second = await joins();
    await haveAll([first, second], 'both have a part');
    const entries = [first, second].map(({ store }) => store.list('pin:').length);
    assert.equal(entries[0]! + entries[1]!, 301);
    assert.ok(entries.every((count) => count > 80));
    const own = Array.from({ length: 301 }, (_, chip) => String(chip)).find((chip) =>
      second.begun.has(shareOf(chip)),
    );
    assert.ok(own);
    assert.equal(second.cluster.mayEmit(own), true);
    assert.equal(first.cluster.mayAct(own), false);
    assert.equal(await first.store.set(`pin:${own}:5`, 'foreign'), false);
    assert.match(
      String(await first.cluster.calls.call('push', own, {}, 1000, 1000)),
      new RegExp(`^push ${own} at ${second.cluster.id}$`),
    );
    await second.cluster.close();
    assert.equal(second.begun.size, 0);
    await haveAll([first], 'it has all again');
    assert.equal(first.store.list('pin:').length, 301);
  });

  it('go on from memory when the engine has lost everything, and write it anew', async () => {
    const members = [await joins(), await joins()];
    await haveAll(members, 'both have a part');
    for (const { store } of members)
      for (let chip = 0; chip < 100; chip++) void store.set(`pin:${chip}:5`, { chip });
    const before = members.map(({ begun }) => [...begun]);
    const engine = await connected();
    const isKept = async (): Promise<boolean> => {
      const keys = keysOf('1');
      const sizes = Array.from({ length: SHARES }, async (_, share) =>
        Number(await engine.call(1000, 'HLEN', keys.share(share)).catch(() => -1)),
      );
      // Each share that has entries also has the number of its last write.
      return (
        (await Promise.all(sizes)).reduce((sum, size) => sum + Math.max(0, size - 1), 0) >= 100
      );
    };
    await until(isKept);
    await engine.call(1000, 'FLUSHALL');
    await until(isKept, 'it is written anew');
    assert.deepEqual(
      members.map(({ begun }) => [...begun]),
      before,
    );
  });

  it('send no command to a device while one may be under way of a process that has died', async () => {
    const first = await joins();
    await haveAll([first], 'it has all');
    const end = (): Promise<void> => Promise.resolve();
    // Its own are over: this one does not wait for the hour.
    await first.cluster.exclusively('1', HOUR, end);
    await first.cluster.exclusively('1', 9000, end);
    // As its owner leaves it that is killed in the midst of a command of 2 s.
    const engine = await connected();
    await first.cluster.close();
    const [seconds, micros] = (await engine.call(1000, 'TIME')) as [string, string];
    const busyUntil = Number(seconds) * 1000 + Number(micros) / 1000 + 9000;
    const isBusy = (chipid: string, until: number): Promise<unknown> => {
      const key = keysOf('1').share(shareOf(chipid));
      return engine.call(1000, 'HSET', key, `busy:${chipid}`, String(until));
    };
    await isBusy('1', busyUntil);
    await isBusy('3', busyUntil + HOUR);
    const second = await joins();
    await haveAll([second], 'it has all');
    // Another device does not wait.
    await second.cluster.exclusively('2', 9000, end);
    await second.cluster.exclusively('1', 9000, end);
    const [now, fraction] = (await engine.call(1000, 'TIME')) as [string, string];
    assert.ok(Number(now) * 1000 + Number(fraction) / 1000 >= busyUntil - 100);
    await second.cluster.close();
    const act = (): Promise<void> => assert.fail('it is not this process’s any more');
    await assert.rejects(second.cluster.exclusively('1', 9000, act), NotSent);
  });

  it('name each right that the user lacks, do nothing without it, and do their part once it is given', async () => {
    const engine = await connected();
    const all =
      '+ping +eval +evalsha +hgetall +hget +hset +hdel +del +info +time +publish +subscribe +unsubscribe +wait'.split(
        ' ',
      );
    const places = ['~{dc:1}:*', '&{dc:1}:*'];
    const set = (user: string, rights: readonly string[]): Promise<unknown> =>
      engine.call(1000, 'ACL', 'SETUSER', user, 'reset', 'on', '>secret', ...rights);
    for (const right of [...all, ...places]) {
      await set(
        right,
        [...all, ...places].filter((each) => each !== right),
      );
      const member = await joins(undefined, { user: right, password: 'secret' });
      await until(
        () => member.store.problem?.endsWith(`its user lacks rights: ${right}.`),
        `${right} is named`,
      );
      assert.equal(member.cluster.state, 'refused');
      assert.deepEqual(await engine.call(1000, 'EXISTS', keysOf('1').members), 0);
      await member.cluster.close();
    }
    const member = await joins(undefined, { user: '+subscribe', password: 'secret' });
    await until(() => member.store.problem);
    await set('+subscribe', [...all, ...places]);
    await haveAll([member], 'it has all');
    assert.equal(member.store.problem, undefined);
    // Redis then ends the connection that is subscribed.
    await set('+subscribe', all);
    await until(() => member.store.problem?.includes('lacks rights: &{dc:1}:*'), 'it is named');
  });

  it('name the key of a share that something else has written', async () => {
    const engine = await connected();
    const key = keysOf('1').share(5);
    await engine.call(1000, 'SET', key, 'text');
    const member = await joins();
    await until(() => member.store.problem?.includes(key), 'it is named');
    assert.equal(member.cluster.state, 'refused');
    await engine.call(1000, 'DEL', key);
    await haveAll([member], 'it has all');
    await until(() => member.store.problem === undefined);
  });

  it('say why they cannot do their part, and do it once they can', async () => {
    const member = await joins();
    await haveAll([member], 'it has all');
    await redis.end();
    await until(() => member.cluster.state === 'awaiting');
    assert.match(member.store.problem ?? '', /^The engine of the cluster cannot be used: /);
    const chip = '1';
    assert.equal(member.cluster.mayAct(chip), false);
    assert.equal(member.begun.size, SHARES);
    redis = await startRedis({ port: redis.port });
    await until(() => member.cluster.mayEmit(chip));
    assert.equal(member.store.problem, undefined);
    assert.equal(member.begun.size, SHARES);
  });
});
