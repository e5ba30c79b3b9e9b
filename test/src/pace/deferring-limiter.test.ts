import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { PacedAttempt } from '../../../src/pace/attempt';
import { DeferringLimiter } from '../../../src/pace/deferring-limiter';

const FEW = 100;
const MANY = 101;

describe('readings during a rush of connects', () => {
  let now = 0;
  let connects: { queued: number };
  let limiter: DeferringLimiter;
  /** What was queued with the limiter of the readings, and what happened to each attempt. */
  let queued: string[];
  let ends: string[];
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    [now, queued, ends] = [0, [], []];
    connects = { queued: MANY };
    const acquire = (turn: () => void): PacedAttempt => {
      turn();
      return {
        succeeded: () => void ends.push('succeeded'),
        failed: (...why) => void ends.push(`failed ${why.join(' ')}`),
        cancel: () => void ends.push('cancelled'),
      };
    };
    limiter = new DeferringLimiter({ acquire }, connects, () => now);
  });
  afterEach(() => mock.timers.reset());

  const pass = (ms: number): void => {
    now += ms;
    mock.timers.tick(ms);
  };
  const read = (name: string): PacedAttempt => limiter.acquire(() => void queued.push(name));

  it('are queued at once while few connects wait', () => {
    connects.queued = FEW;
    read('1');
    assert.deepEqual(queued, ['1']);
  });

  it('are queued in order when the rush is over', () => {
    read('1');
    pass(5000);
    read('2');
    assert.deepEqual(queued, []);
    connects.queued = FEW;
    read('3');
    pass(100);
    assert.deepEqual(queued, ['1', '2', '3']);
  });

  it('are deferred by 10 s at most, and then go on for as long', () => {
    read('1');
    pass(9900);
    read('2');
    assert.deepEqual(queued, []);
    pass(100);
    assert.deepEqual(queued, ['1', '2']);
    pass(9900);
    read('3');
    assert.deepEqual(queued, ['1', '2', '3']);
    pass(100);
    read('4');
    pass(9900);
    assert.deepEqual(queued, ['1', '2', '3']);
    pass(100);
    assert.deepEqual(queued, ['1', '2', '3', '4']);
  });

  it('are deferred by 10 s again in the next rush', () => {
    read('1');
    pass(8000);
    connects.queued = 0;
    pass(100);
    assert.deepEqual(queued, ['1']);
    read('2');
    connects.queued = MANY;
    read('3');
    pass(9900);
    assert.deepEqual(queued, ['1', '2']);
    pass(100);
    assert.deepEqual(queued, ['1', '2', '3']);
  });

  it('are not queued once they are cancelled, and leave no timer behind', () => {
    const timers = mock.method(globalThis, 'clearTimeout');
    const [first, second] = [read('1'), read('2')];
    first.cancel();
    first.cancel();
    assert.equal(timers.mock.callCount(), 0);
    second.cancel();
    assert.equal(timers.mock.callCount(), 1);
    pass(20_000);
    timers.mock.restore();
    assert.deepEqual([queued, ends], [[], []]);
  });

  it('pass on how they end', () => {
    const [first, second, third] = [read('1'), read('2'), read('3')];
    connects.queued = 0;
    pass(100);
    first.succeeded();
    second.failed('503', 1000);
    third.cancel();
    assert.deepEqual(ends, ['succeeded', 'failed 503 1000', 'cancelled']);
  });
});
