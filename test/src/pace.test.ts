import assert from 'node:assert/strict';
import { backoff } from '../../src/backoff';
import { createConnectRate } from '../../src/connect-rate';

describe('the pause before another attempt', () => {
  const longest = (attempt: number): number => backoff(attempt, 1000, 60_000, () => 1);

  it('doubles its limit from 1 s up to 60 s', () => {
    const limits = [0, 1, 2, 3, 4, 5, 6, 7].map(longest);
    assert.deepEqual(limits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('stays at the limit for ever', () => {
    assert.equal(longest(1e9), 60_000);
    assert.equal(longest(Number.MAX_SAFE_INTEGER), 60_000);
  });

  it('is anything between nothing and the limit, so that clients come back spread out', () => {
    assert.equal(
      backoff(3, 1000, 60_000, () => 0),
      0,
    );
    assert.equal(
      backoff(3, 1000, 60_000, () => 0.25),
      2000,
    );
  });
});

describe('the rate of connection attempts', () => {
  it('lets the first go at once and the next ones evenly after it', () => {
    const rate = createConnectRate(50, () => 1000);
    assert.deepEqual([rate.take(), rate.take(), rate.take()], [0, 20, 40]);
  });

  it('is at most 50 in any second', () => {
    const rate = createConnectRate(50, () => 0);
    const waits = Array.from({ length: 200 }, () => rate.take());
    for (let start = 0; start < 4000; start += 100) {
      const within = waits.filter((wait) => wait >= start && wait < start + 1000);
      assert.ok(within.length <= 50, `${within.length} attempts within the second from ${start}`);
    }
  });

  it('saves no attempts up while there are none', () => {
    let now = 0;
    const rate = createConnectRate(50, () => now);
    rate.take();
    now = 10_000;
    assert.deepEqual([rate.take(), rate.take()], [0, 20]);
  });
});
