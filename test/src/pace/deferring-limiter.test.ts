import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { PacedAttempt } from '../../../src/pace/attempt';
import { DeferringLimiter } from '../../../src/pace/deferring-limiter';

describe('readings during a rush of connects', () => {
  let now = 0;
  let connects: { rushSince: number | undefined };
  let limiter: DeferringLimiter;
  /** What was queued with the limiter of the readings, whose turns came, and how each attempt ended. */
  let begun: string[];
  let turns: (() => void)[];
  let ends: string[];
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    [now, turns, ends, begun] = [0, [], [], []];
    connects = { rushSince: 0 };
    const acquire = (turn: () => void): PacedAttempt => {
      turns.push(turn);
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
  const read = (name: string): PacedAttempt => limiter.acquire(() => void begun.push(name));
  /** Gives a turn to each that was queued. */
  const queued = (): string[] => {
    for (const turn of turns.splice(0)) turn();
    return begun;
  };

  it('are queued at once without one', () => {
    connects.rushSince = undefined;
    read('1');
    assert.deepEqual(queued(), ['1']);
  });

  it('are queued in order when it is over', () => {
    read('1');
    pass(5000);
    read('2');
    assert.deepEqual(queued(), []);
    connects.rushSince = undefined;
    read('3');
    pass(100);
    assert.deepEqual(queued(), ['1', '2', '3']);
  });

  it('are deferred by 10 s at most, and by the same rush only once', () => {
    read('1');
    pass(9900);
    read('2');
    assert.deepEqual(queued(), []);
    pass(100);
    assert.deepEqual(queued(), ['1', '2']);
    pass(60_000);
    read('3');
    assert.deepEqual(queued(), ['1', '2', '3']);
  });

  it('are deferred again by the next one, also if all were cancelled in the last', () => {
    read('1').cancel();
    pass(20_000);
    connects.rushSince = now;
    read('2');
    pass(9900);
    assert.deepEqual(queued(), []);
    pass(100);
    assert.deepEqual(queued(), ['2']);
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
    assert.deepEqual([queued(), ends], [[], []]);
  });

  it('pass on how they end, before and after their turn', () => {
    const [first, second, third, fourth] = [read('1'), read('2'), read('3'), read('4')];
    connects.rushSince = undefined;
    pass(100);
    fourth.cancel();
    assert.deepEqual(queued(), ['1', '2', '3', '4']);
    first.succeeded();
    second.failed('503', 1000);
    third.cancel();
    assert.deepEqual(ends, ['cancelled', 'succeeded', 'failed 503 1000', 'cancelled']);
  });
});
