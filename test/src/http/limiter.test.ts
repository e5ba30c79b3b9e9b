import assert from 'node:assert/strict';
import { CallAborted, Deadlines, type Deadline } from '../../../src/http/deadline';
import { Limiter } from '../../../src/http/limiter';
import { held } from '../support/garbage';
import { settled } from '../../tooling/until';

describe('the limiter of calls', () => {
  const started: Deadline[] = [];
  const start = (signal?: AbortSignal): Deadline => {
    const deadline = new Deadlines().start(60, signal);
    started.push(deadline);
    return deadline;
  };
  // One that is not cleared keeps the process for its minute.
  afterEach(() => {
    for (const deadline of started.splice(0)) deadline.clear();
  });

  it('runs as many calls as there are connections; the others follow in order', async () => {
    const limiter = new Limiter(2);
    assert.equal(limiter.acquire(start()), undefined);
    assert.equal(limiter.acquire(start()), undefined);
    const turns: string[] = [];
    void limiter.acquire(start())?.then(() => turns.push('a'));
    void limiter.acquire(start())?.then(() => turns.push('b'));
    await settled();
    assert.deepEqual(turns, []);
    limiter.release();
    await settled();
    assert.deepEqual(turns, ['a']);
    limiter.release();
    await settled();
    assert.deepEqual(turns, ['a', 'b']);
  });

  it('loses no place to a call that was aborted while it waited', async () => {
    const limiter = new Limiter(1);
    const controller = new AbortController();
    assert.equal(limiter.acquire(start()), undefined);
    const waiting = limiter.acquire(start(controller.signal));
    controller.abort();
    await assert.rejects(waiting ?? Promise.resolve(), CallAborted);
    limiter.release();
    assert.equal(limiter.acquire(start()), undefined, 'the place is free again');
  });

  it('keeps the order of the others when calls are aborted, from any place', async () => {
    const limiter = new Limiter(1);
    assert.equal(limiter.acquire(start()), undefined);
    const turns: number[] = [];
    const controllers = Array.from({ length: 8 }, () => new AbortController());
    for (const [index, { signal }] of controllers.entries()) {
      limiter.acquire(start(signal))?.then(
        () => turns.push(index),
        () => undefined,
      );
    }
    for (const gone of [0, 3, 4, 7]) controllers[gone]?.abort();
    for (let given = 0; given < 4; given++) limiter.release();
    await settled();
    assert.deepEqual(turns, [1, 2, 5, 6]);
    limiter.release();
    assert.equal(limiter.acquire(start()), undefined, 'nobody waits any more');
  });

  it('refuses a call whose deadline has ended, and keeps its place free', async () => {
    const limiter = new Limiter(1);
    assert.equal(limiter.acquire(start()), undefined);
    await assert.rejects(
      limiter.acquire(start(AbortSignal.abort())) ?? Promise.resolve(),
      CallAborted,
    );
    limiter.release();
    assert.equal(limiter.acquire(start()), undefined, 'the place is free again');
  });

  it('forgets calls that have ended, even while one always waits', async () => {
    const limiter = new Limiter(1);
    const deadlines = new Deadlines();
    const calls: WeakRef<Deadline>[] = [];
    const call = (): Promise<void> | undefined => {
      const deadline = deadlines.start(60);
      calls.push(new WeakRef(deadline));
      return limiter.acquire(deadline)?.then(() => deadline.clear());
    };
    assert.equal(limiter.acquire(start()), undefined);
    let waiting = call();
    for (let count = 0; count < 1000; count++) {
      const next = call();
      limiter.release();
      await waiting;
      waiting = next;
    }
    const kept = await held(calls);
    limiter.release();
    await waiting;
    assert.ok(kept < 20, `${kept} of ${calls.length} calls are kept`);
  });

  it('forgets calls that were aborted while no place was free', async () => {
    const limiter = new Limiter(1);
    assert.equal(limiter.acquire(start()), undefined);
    const calls: WeakRef<Deadline>[] = [];
    for (let count = 0; count < 1000; count++) {
      const controller = new AbortController();
      const deadline = new Deadlines().start(60, controller.signal);
      calls.push(new WeakRef(deadline));
      const turn = limiter.acquire(deadline);
      controller.abort();
      await assert.rejects(turn ?? Promise.resolve(), CallAborted);
      deadline.clear();
    }
    const kept = await held(calls);
    assert.ok(kept < 20, `${kept} of ${calls.length} calls are kept`);
    limiter.release();
    assert.equal(limiter.acquire(start()), undefined, 'the place is free again');
  });
});
