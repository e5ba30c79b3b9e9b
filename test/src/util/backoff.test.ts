import assert from 'node:assert/strict';
import { backoff } from '../../../src/util/backoff';

describe('the pause before another attempt', () => {
  const longest = (attempt: number): number => backoff(attempt, 1000, 60_000, () => 1);

  it('doubles its limit from 1 s up to 60 s', () => {
    const limits = [0, 1, 2, 3, 4, 5, 6, 7].map(longest);
    assert.deepEqual(limits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('stays at the limit', () => {
    assert.equal(longest(1e9), 60_000);
    assert.equal(longest(Number.MAX_SAFE_INTEGER), 60_000);
  });

  it('is random between 0 and the limit, so that clients spread out', () => {
    assert.equal(
      backoff(3, 1000, 60_000, () => 0),
      0,
    );
    assert.equal(
      backoff(3, 1000, 60_000, () => 0.25),
      2000,
    );
  });

  it('is never below the fixed part of the limit, if there is one', () => {
    const pauses = [0, 0.5, 1].map((number) => backoff(3, 1000, 60_000, () => number, 0.5));
    assert.deepEqual(pauses, [4000, 6000, 8000]);
  });
});
