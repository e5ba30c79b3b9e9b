import assert from 'node:assert/strict';
import {
  AdaptiveLimiters,
  type PacedAttempt,
  CONNECTS,
  READINGS,
  type AdaptiveLimiter,
} from '../../../src/http/adaptive-limiters';
import { tick, useClock } from '../../support/clock';

const SERVICE = 'ws://127.0.0.1:1';

describe('the limiter of connection attempts', () => {
  let now: number;
  let limiters: AdaptiveLimiters;
  let limiter: AdaptiveLimiter;
  useClock();
  beforeEach(() => {
    now = 0;
    limiters = new AdaptiveLimiters({ now: () => now, idle: () => now, random: () => 0.5 });
    limiter = limiters.of(SERVICE);
  });

  function pass(ms: number): void {
    for (; ms > 0; ms--) {
      now++;
      tick(1);
    }
  }
  /** Queues that many, which fail for a reason of their own. @returns when each had its turn, and the attempts */
  function queue(count: number, to = limiter): { turns: number[]; attempts: PacedAttempt[] } {
    const turns: number[] = [];
    const attempts = Array.from({ length: count }, () => {
      const attempt = to.acquire(() => {
        turns.push(now);
        attempt.failed('401');
      });
      return attempt;
    });
    return { turns, attempts };
  }
  const mostInASecond = (turns: readonly number[]): number =>
    Math.max(...turns.map((start) => turns.filter((t) => t >= start && t < start + 1000).length));

  it('starts the first at once and the next ones evenly after it', () => {
    const { turns } = queue(3);
    assert.deepEqual(turns, []);
    pass(100);
    assert.deepEqual(turns, [1, 21, 41]);
  });

  it('allows at most 50 in any second while nothing is known of the service', () => {
    const { turns } = queue(200);
    pass(5000);
    assert.equal(turns.length, 200);
    assert.equal(mostInASecond(turns), 50);
  });

  for (const [what, paced] of [
    ['connects', CONNECTS],
    ['readings', READINGS],
  ] as const) {
    it(`allows up to ${paced.most} ${what} a second while all succeed quickly`, () => {
      const to = limiters.of(`ws://127.0.0.1:2/${what}`, paced);
      let inLastSecond = 0;
      for (let each = 0; each < 10_000; each++) {
        const attempt = to.acquire(() => {
          if (now > 6000) inLastSecond++;
          setTimeout(() => attempt.succeeded(), 5);
        });
      }
      pass(7000);
      assert.ok(
        inLastSecond > 0.95 * paced.most && inLastSecond <= paced.most,
        String(inLastSecond),
      );
    });
  }

  it('keeps its rate although timers are late, and allows no more in any second', () => {
    const { turns } = queue(500);
    for (let seed = 1; turns.length < 500; seed = (seed * 48_271) % 2_147_483_647) {
      const late = 1 + (seed % 9);
      now += late;
      tick(late);
    }
    const took = (turns.at(-1) ?? NaN) - (turns[0] ?? NaN);
    assert.ok(took < 499 * 20.5, `500 attempts took ${took} ms`);
    assert.ok(mostInASecond(turns) <= 50);
  });

  it('starts no burst after the event loop was blocked', () => {
    const { turns } = queue(100);
    pass(1);
    now += 10_000;
    pass(1000);
    assert.ok(mostInASecond(turns) <= 50);
  });

  it('saves up no attempts while there are none', () => {
    queue(1);
    pass(5000);
    const { turns } = queue(2);
    pass(100);
    assert.deepEqual(turns, [5001, 5021]);
  });

  it('drops attempts that were cancelled', () => {
    const { attempts } = queue(1000);
    pass(50);
    for (const each of attempts) each.cancel();
    const { turns } = queue(2);
    pass(100);
    assert.deepEqual(turns, [62, 82]);
  });

  it('moves the others up when an attempt is cancelled', () => {
    const { attempts } = queue(2);
    const { turns } = queue(1);
    attempts[1]?.cancel();
    pass(100);
    assert.deepEqual(turns, [21]);
  });

  it('counts more than 100 that wait as a rush, for 10 s at most', () => {
    queue(100);
    assert.equal(limiter.isRush, false);
    const { attempts } = queue(1000);
    assert.equal(limiter.isRush, true);
    pass(9999);
    assert.equal(limiter.isRush, true);
    pass(1);
    assert.equal(limiter.isRush, false);
    for (const attempt of attempts) attempt.cancel();
    queue(102);
    assert.equal(limiter.isRush, true);
    pass(100);
    assert.equal(limiter.isRush, false);
  });

  it('is one for each service, so that one that hangs delays no other', () => {
    const [first, second] = [queue(2000), queue(2000, limiters.of('ws://127.0.0.1:2'))];
    pass(40);
    assert.deepEqual(first.turns, second.turns);
    first.attempts[0]?.failed('503', 60_000);
    pass(1000);
    assert.equal(first.turns.length, 2);
    assert.ok(second.turns.length > 45);
    assert.equal(limiters.of(SERVICE), limiter);
  });

  it('keeps the limiters of 100 services', () => {
    for (let port = 2; port <= 101; port++) limiters.of(`ws://127.0.0.1:${port}`);
    assert.notEqual(limiters.of(SERVICE), limiter);
  });

  it('waits for as long as the service says, and up to half as long again', () => {
    const { turns, attempts } = queue(3);
    pass(1);
    attempts[0]?.failed('503', 2000);
    pass(2499);
    assert.deepEqual(turns, [1]);
    pass(100);
    // The rate is half of what it was.
    assert.deepEqual(turns, [1, 2501, 2522]);
  });
});
