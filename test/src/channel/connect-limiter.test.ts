import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createConnectLimiter, type ConnectLimiter } from '../../../src/channel/connect-limiter';

describe('the rate of connection attempts', () => {
  let now: number;
  let rate: ConnectLimiter;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    now = 0;
    rate = createConnectLimiter(50, () => now);
  });
  afterEach(() => mock.timers.reset());

  function pass(ms: number): void {
    for (; ms > 0; ms--) {
      now++;
      mock.timers.tick(1);
    }
  }
  /** Queues that many. @returns when each had its turn, and what leaves the queue again */
  function queue(count: number): { turns: number[]; leave: (() => void)[] } {
    const turns: number[] = [];
    const leave = Array.from({ length: count }, () => rate.acquire(() => turns.push(now)));
    return { turns, leave };
  }

  it('lets the first go at once and the next ones evenly after it', () => {
    const { turns } = queue(3);
    assert.deepEqual(turns, []);
    pass(100);
    assert.deepEqual(turns, [1, 21, 41]);
  });

  it('is at most 50 in any second', () => {
    const { turns } = queue(200);
    pass(4000);
    assert.equal(turns.length, 200);
    for (let start = 0; start < 4000; start += 100) {
      const within = turns.filter((turn) => turn >= start && turn < start + 1000);
      assert.ok(within.length <= 50, `${within.length} attempts within the second from ${start}`);
    }
  });

  it('keeps its pace though timers are late, and is at most 50 in any second even so', () => {
    const { turns } = queue(500);
    for (let seed = 1; turns.length < 500; seed = (seed * 48_271) % 2_147_483_647) {
      const late = 1 + (seed % 9);
      now += late;
      mock.timers.tick(late);
    }
    const took = (turns.at(-1) ?? NaN) - (turns[0] ?? NaN);
    assert.ok(took < (499 * 20 * 50) / 49, `500 attempts took ${took} ms`);
    turns.forEach((turn, index) => {
      const later = turns[index + 50] ?? Infinity;
      assert.ok(later - turn >= 1000, `51 attempts within ${later - turn} ms`);
    });
  });

  it('sends no burst after the event loop was blocked', () => {
    const { turns } = queue(4);
    pass(1);
    now += 10_000;
    pass(100);
    assert.deepEqual(turns.slice(2), [(turns[1] ?? NaN) + 20, (turns[1] ?? NaN) + 40]);
  });

  it('saves up no attempts while there are none', () => {
    queue(1);
    pass(10_000);
    const { turns } = queue(2);
    pass(100);
    assert.deepEqual(turns, [10_001, 10_021]);
  });

  it('drops attempts that were cancelled', () => {
    const { leave } = queue(1000);
    pass(50);
    for (const each of leave) each();
    const { turns } = queue(2);
    pass(100);
    assert.deepEqual(turns, [61, 81]);
  });

  it('moves the others up when an attempt is cancelled', () => {
    const { leave } = queue(2);
    const { turns } = queue(1);
    leave[1]?.();
    pass(100);
    assert.deepEqual(turns, [21]);
  });
});
