import assert from 'node:assert/strict';
import type { KeptPin, PinKeeper } from '../../../src/for-nodes';
import { startRedis, type RedisProcess } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { failure } from '../support/failure';
import { redisCli } from './redis-cli';
import { processesOn, type Processes, type ProcessModel } from './processes';

const PIN = 5;

/** A process with a keeper that has the same id in each. */
class Keeping {
  readonly states: string[] = [];
  readonly keeper: PinKeeper = {
    id: 'node',
    check: 5000,
    timeout: 5000,
    onState: ({ chipid, state }: KeptPin) => void this.states.push(`${chipid} ${state}`),
  };

  constructor(readonly process: ProcessModel) {
    process.client.pins.restore(this.keeper, undefined);
  }

  keep(chipid: string, level: 0 | 1 | null): Promise<KeptPin> {
    return this.process.client.keepPin(chipid, PIN, level, this.keeper);
  }

  state(chipid: string): string | undefined {
    return this.process.client.pins.list(chipid)[0]?.state;
  }
}

describe('pins that several processes keep', () => {
  let redis: RedisProcess;
  let world: Processes;
  let all: [Keeping, Keeping];
  /** One that the first process has, and one that the second has. */
  let chipids: [string, string];

  beforeEach(async () => {
    redis = await startRedis();
    world = await processesOn(redis.port);
    all = world.all.map((each) => new Keeping(each)) as [Keeping, Keeping];
    chipids = world.all.map((process) =>
      world.chipids.find((each) => world.owner(each) === process),
    ) as [string, string];
  });
  afterEach(() => redis.end());

  const level = (chipid: string): string | undefined => world.simulator.device(chipid).levels[PIN];
  const calls = (chipid: string): number =>
    world.simulator.requests.filter(
      ({ path }) => path.includes('gpio') && path.includes(`/${chipid}/`),
    ).length;
  const everywhere = (chipid: string, state: string | undefined): Promise<void> =>
    until(
      () => all.every((each) => each.state(chipid) === state),
      `${chipid} is ${String(state)} in each process`,
    );

  it('are looked after by the process that has the device, whichever process received the wish', async () => {
    const [one, two] = all;
    for (const chipid of chipids) assert.equal((await one.keep(chipid, 1)).state, 'pending');
    for (const chipid of chipids) {
      await everywhere(chipid, 'kept');
      assert.deepEqual([level(chipid), calls(chipid)], ['1', 2]);
    }
    assert.deepEqual(one.states, [`${chipids[0]} kept`]);
    assert.deepEqual(two.states, [`${chipids[1]} kept`]);
    await two.process.client.reboot(chipids[0]);
    await everywhere(chipids[0], 'pending');
    assert.deepEqual(one.states, [`${chipids[0]} kept`, `${chipids[0]} pending`]);
  });

  it('are looked after by the next process when one dies, and end everywhere with a null from any', async () => {
    const [dying, other] = all;
    const [chipid] = chipids;
    await dying.keep(chipid, 1);
    await everywhere(chipid, 'kept');
    await dying.process.kill();
    world.simulator.setPin(chipid, PIN, 0);
    const before = calls(chipid);
    await until(() => calls(chipid) > before, 'the other one looks');
    await until(() => other.states.includes(`${chipid} pending`), 'it has found another level');
    assert.equal((await other.keep(chipid, null)).state, 'ended');
    assert.deepEqual(other.process.client.pins.list(), []);
  });

  it('end for a process that has not heard of it, before its next look', async () => {
    const [one, two] = all;
    const [chipid] = chipids;
    await two.keep(chipid, 1);
    await everywhere(chipid, 'kept');
    await world.store.pins.write(chipid, PIN, undefined);
    world.simulator.setPin(chipid, PIN, 0);
    await one.process.client.keepPin(chipid, 4, 1, one.keeper);
    const kept = (): string[] =>
      one.process.client.pins.list(chipid).map(({ pin, state }) => `${pin} ${state}`);
    await until(() => kept().join() === '4 kept', 'it has looked, and learned of the end');
    assert.equal(level(chipid), '0');
  });

  it('end once no process has their keeper, and not while one has it or does not say', async () => {
    const [one, two] = all;
    const [chipid] = chipids;
    await one.keep(chipid, 1);
    await everywhere(chipid, 'kept');
    let questions = 0;
    world.store.subscribe('members', (text) => {
      if (text.includes('"who keeps"')) questions++;
    });
    const forget = ({ keeper, process: { client } }: Keeping): void => {
      client.pins.release(keeper);
      client.pins.forget('node');
    };
    const goOn = async (count = 2): Promise<void> => {
      const before = questions;
      // The second one says that the first has ended nothing.
      await until(() => questions >= before + count, 'the others were asked twice');
      assert.equal((await world.store.pins.list()).length, 1);
    };
    forget(one);
    await goOn();
    assert.equal(two.state(chipid), 'kept');
    const key = (await redisCli(redis.port, 'KEYS', '*:members')).trim();
    await redisCli(redis.port, 'HSET', key, 'silent', '1  60000');
    const isMember = ({ process }: Keeping): boolean => process.member.members.includes('silent');
    await until(() => all.every(isMember), 'it counts');
    forget(two);
    // Both ask now.
    await goOn(4);
    await redisCli(redis.port, 'HDEL', key, 'silent');
    await until(async () => (await world.store.pins.list()).length === 0, 'the wish has ended');
    const again = all.map(({ process }) => new Keeping(process));
    await again[0]!.process.client.keepPin(chipid, 4, 1, again[0]!.keeper);
    await until(
      () => again.every(({ process }) => process.client.pins.list()[0]?.state === 'kept'),
      'what is wished from then on is kept',
    );
    const kept = again.map(({ process }) => process.client.pins.list().map(({ pin }) => pin));
    assert.deepEqual(kept, [[4], [4]]);
  });

  it('are kept by nobody else if that could not be written', async () => {
    const [one] = all;
    redis.stop();
    await failure(one.keep(chipids[0], 1), 'UNREACHABLE');
    redis.cont();
    assert.deepEqual(one.process.client.pins.list(), []);
  });

  it('are put back into an engine that has lost them', async () => {
    const [one] = all;
    await one.keep(chipids[0], 1);
    await everywhere(chipids[0], 'kept');
    const { port } = redis;
    await redis.end();
    redis = await startRedis({ port });
    await until(async () => {
      const stored = await world.store.pins.list().catch(() => []);
      return stored.length === 1;
    }, 'it is there again');
    // Whoever has the device then looks at it after half a minute, and if it moves once more, later.
    await until(() => all.every((each) => each.state(chipids[0])), 'each process knows it');
    assert.equal(level(chipids[0]), '1');
  });
});
