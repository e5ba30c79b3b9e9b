import assert from 'node:assert/strict';
import { HandOvers, type SharedWaiting } from '../../../src/cluster/hand-over';
import { type SavedCall, SavedCalls, timeLeft } from '../../../src/commands/saved-call';
import { ORIGIN, type OwnOptions } from '../../../src/commands/waiting-list';
import { DeviceCloudError } from '../../../src/errors';
import type { ServiceClock } from '../../../src/http/answer';
import { until } from '../../tooling/until';
import { MEMORY, Store, type StorePort } from '../../../src/store/store';
import { Lending, type Lent } from '../../../src/cluster/lending';

/** A process that hands over to itself. @param port where it keeps what waits */
function start(port: StorePort = MEMORY) {
  const calls = new SavedCalls(new Store(port));
  const orphans: SavedCall[] = [];
  const waiting: SharedWaiting = {
    calls,
    callOf: () => assert.fail('it is carried out'),
    onOrphan: (saved) => orphans.push(saved),
  };
  let count = 0;
  const handOvers = new HandOvers(waiting, {
    // It is written down, and waits.
    calls: {
      call: () => {
        count++;
        return Promise.resolve(null);
      },
      ask: () => assert.fail('it has ended'),
    },
    ...{ member: 'a', members: () => ['a'] },
    make: () => assert.fail('it is made'),
    letGo: () => assert.fail('no node closes'),
  });
  const give = (what: unknown): { saved: SavedCall; ended: Promise<unknown> } => {
    const saved = calls.add('node', ['1'], () => what);
    const ended = handOvers.handOver('1', saved, 1000, {});
    return { saved, ended };
  };
  return { handOvers, orphans, give, count: () => count };
}

describe('a command that waits', () => {
  it('is refused if it is larger than 1 MiB with its message, also by the process of its device', async () => {
    const { give, count } = start();
    await assert.rejects(give({ extra: 'x'.repeat(2 ** 20) }).ended, (error: unknown) => {
      assert.ok(error instanceof DeviceCloudError);
      assert.equal(error.code, 'INVALID_INPUT');
      assert.match(error.message, /kept with its message, .*1 MiB/);
      return true;
    });
    assert.equal(count(), 0);
  });

  it('is known to have ended if that is said once more, since the answer was lost', async () => {
    const { handOvers, give } = start();
    const { saved, ended } = give('what');
    const id = `${saved.id}/1`;
    assert.equal(handOvers.ended(id, { value: 'done' }), true);
    assert.equal(await ended, 'done');
    assert.equal(handOvers.ended(id, { value: 'done' }), true);
    assert.equal(handOvers.ended('another', { value: 'done' }), false);
  });
});

describe('what became of a command', () => {
  const left = timeLeft(60_000, { time: () => Date.now() } as ServiceClock);
  let isAway: boolean;
  let written: unknown[];
  const port: StorePort = {
    ...MEMORY,
    write: (_, changes) => {
      if (isAway) return Promise.reject(new Error('the engine is away'));
      written.push(...changes.values());
      return Promise.resolve(true);
    },
  };
  beforeEach(() => {
    isAway = false;
    written = [];
  });
  /** It waits, and cannot be begun, since the engine is away by then. */
  const failing = async (saved: SavedCall): Promise<never> => {
    await saved.save('1', left);
    isAway = true;
    await saved.begin('1');
    return assert.fail('it is sent');
  };
  const SENDER = { member: 'b', id: 'theirs' };

  /** A process that is handed commands of another one. @param make what their calls do */
  function receiver(make: (saved: SavedCall) => Promise<never>) {
    const calls = new SavedCalls(new Store(port));
    const said: unknown[] = [];
    const handOvers = new HandOvers(
      {
        calls,
        callOf: () => ({ name: 'push', args: [], options: {} }),
        onOrphan: () => assert.fail('its message is there'),
      },
      {
        calls: {
          call: () => assert.fail('it is here'),
          ask: (...asked) => {
            said.push(asked);
            return Promise.resolve(true);
          },
        },
        ...{ member: 'a', members: () => ['a', 'b'] },
        letGo: () => assert.fail('no node closes'),
        make: (_, args) => make((args.at(-1) as OwnOptions)[ORIGIN]?.saved as SavedCall),
      },
    );
    const command = { node: 'node', what: 'what', sender: SENDER };
    return { said, take: () => handOvers.take('1', command) };
  }

  it('is said once it is written: until then another process may come to send it', async () => {
    const { said, take } = receiver(failing);
    assert.equal(await take(), null);
    // The write of the end is tried, and fails.
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(said, []);
    isAway = false;
    await until(() => said.length > 0, 'it is said');
    const ends = written.map((entry) => (entry as { end?: unknown } | undefined)?.end);
    assert.ok(ends.some(Boolean), 'after it was written');
    assert.match(
      JSON.stringify(said),
      /^\[\["b","ended",\["theirs",{"error":{"code":"UNREACHABLE"/,
    );
  });

  it('is written before the command counts as handed over: nothing else would have it', async () => {
    isAway = true;
    const { said, take } = receiver((saved) => {
      saved.save('1', left).catch(() => undefined);
      return Promise.reject(new DeviceCloudError('CANCELLED', 'Cancelled.'));
    });
    let isTaken = false;
    const taken = take().finally(() => (isTaken = true));
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isTaken, false);
    isAway = false;
    assert.equal(await taken, null);
    assert.ok(written.some((entry) => (entry as { end?: unknown } | undefined)?.end));
    await until(() => said.length > 0, 'it is said');
  });

  it('is no more said here once another process has its device', async () => {
    const { handOvers } = start(port);
    const calls = new SavedCalls(new Store(port));
    const saved = calls.add('node', ['1'], () => 'what', SENDER);
    const resumed = handOvers.resume('1', saved, () => failing(saved));
    resumed.catch(() => undefined);
    let isOver = false;
    void resumed.finally(() => (isOver = true)).catch(() => undefined);
    await until(() => isAway, 'it could not be begun');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isOver, false);
    handOvers.letGo((chipid) => chipid === '1');
    await assert.rejects(resumed, { code: 'UNREACHABLE' });
    assert.equal(saved.isDetached, true);
  });

  it('comes in the order of arrival: new commands after those that have waited at another process', async () => {
    const store = new Store(port);
    const earlier = new SavedCalls(store);
    for (let times = 0; times < 3; times++) earlier.add('node', ['1'], () => 'what');
    await earlier.add('node', ['1'], () => 'what').save('1', left);
    const calls = new SavedCalls(store);
    calls.moved();
    assert.equal(calls.add('node', ['1'], () => 'new').order, 5);
    const [found] = calls.take();
    assert.equal(found?.order, 4);
  });
});

describe('a command whose message is gone', () => {
  it('has ended, also if its device is another process’s before that is written', async () => {
    const { handOvers, orphans } = start({ ...MEMORY, write: () => Promise.resolve(false) });
    await handOvers.adopt('1', { node: 'node', what: 'what' }, { value: 'done' });
    assert.deepEqual(
      orphans.map((saved) => saved.of('1')?.end),
      [{ value: 'done' }],
    );
  });
});

const PREFIX = 'mark:a:';

/** A process that keeps entries, and others that borrow them from whoever keeps them at the moment. */
class Keeper {
  readonly store = new Store(MEMORY);
  readonly lending: Lending;

  constructor(current: () => Keeper) {
    const callAtOnce = async (name: string, _: string, args: unknown): Promise<unknown> => {
      const { lending } = current();
      const all = args as [string, [string, unknown][]];
      return name === 'lend' ? lending.lend(all[0]) : lending.takeBack(...all);
    };
    this.lending = new Lending(this.store, () => ({ callAtOnce }));
  }
}

/** Whether a promise has been settled after all that can happen by itself. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe('entries of the whole application', () => {
  it('are lent to one at a time, with what the one before has changed', async () => {
    const keeper: Keeper = new Keeper(() => keeper);
    const first = await keeper.lending.borrow(PREFIX);
    const next = keeper.lending.borrow(PREFIX);
    assert.equal(await isSettled(next), false);
    first.update(`${PREFIX}1`, 'changed');
    await first.giveBack();
    assert.deepEqual((await next).list(PREFIX), [[`${PREFIX}1`, 'changed']]);
  });

  it('are not taken back from one that has borrowed them from another process', async () => {
    let current: Keeper;
    const before = new Keeper(() => current);
    current = before;
    const late: Lent = await before.lending.borrow(PREFIX);
    current = new Keeper(() => current);
    const borrowed = await current.lending.borrow(PREFIX);
    const next = current.lending.borrow(PREFIX);
    late.update(`${PREFIX}1`, 'late');
    await late.giveBack();
    assert.equal(await isSettled(next), false);
    await borrowed.giveBack();
    assert.deepEqual((await next).list(PREFIX), []);
  });
});
