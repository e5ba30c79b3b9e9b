import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ReadLimiter, type Reader } from '../../../src/recovery/read-limiter';

describe('readings of histories', () => {
  let time = 0;
  let limiter: ReadLimiter;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    time = 0;
    limiter = new ReadLimiter(() => time);
  });
  afterEach(() => mock.timers.reset());

  const pass = (ms: number): void => {
    for (let tick = 0; tick < ms; tick++) {
      time++;
      mock.timers.tick(1);
    }
  };
  const began: Reader[] = [];
  beforeEach(() => began.splice(0));
  const reader = (urgent: boolean): Reader => {
    const self: Reader = { urgent, granted: () => void began.push(self) };
    return self;
  };
  const wait = (count: number, urgent: boolean): Reader[] =>
    Array.from({ length: count }, () => {
      const one = reader(urgent);
      limiter.acquire(one);
      return one;
    });

  it('are 50 a second where nothing waits for it, however quickly the histories answer', () => {
    wait(100_000, false);
    for (let tick = 0; tick < 10_000; tick++) {
      pass(1);
      for (const one of began.slice(-1)) if (tick % 2) limiter.release(one.urgent);
    }
    assert.ok(began.length >= 6 && began.length <= 501, `${began.length} in ten seconds`);
  });

  it('are eight at once, and neither kind takes all of them', () => {
    wait(20, true);
    assert.equal(began.length, 7);
    wait(20, false);
    pass(1000);
    assert.equal(began.length, 8);
    assert.equal(began.at(-1)!.urgent, false);
    limiter.release(false);
    pass(1000);
    assert.equal(began.length, 9);
  });

  it('come first to those for which live uploads wait', () => {
    wait(7, true);
    const [late] = wait(1, true);
    wait(20, false);
    pass(100);
    limiter.release(true);
    assert.equal(began.at(-1), late);
  });

  it('pass over who has left, and over all at the close', () => {
    const [first, second] = wait(2, false);
    limiter.cancel(first!);
    pass(100);
    assert.deepEqual(began, [second]);
    wait(3, false);
    limiter.close();
    pass(1000);
    assert.equal(began.length, 1);
  });
});
