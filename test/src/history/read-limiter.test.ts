import assert from 'node:assert/strict';
import { AdaptiveLimiter, type PacedAttempt } from '../../../src/http/adaptive-limiters';
import { ReadLimiter, type Reader } from '../../../src/history/read-limiter';
import { tick, useClock } from '../../support/clock';

type Urgency = Reader['urgency'];

describe('readings of histories', () => {
  let limiter: ReadLimiter;
  let connects: AdaptiveLimiter;
  let began: { reader: Reader; turn: PacedAttempt }[];
  useClock();
  beforeEach(() => {
    began = [];
    const clock = { now: Date.now, idle: Date.now, random: () => 0.5 };
    connects = new AdaptiveLimiter(clock);
    limiter = new ReadLimiter(new AdaptiveLimiter(clock), connects);
  });

  const wait = (count: number, urgency: Urgency): Reader[] =>
    Array.from({ length: count }, () => {
      const reader: Reader = { urgency, granted: (turn) => void began.push({ reader, turn }) };
      limiter.acquire(reader);
      return reader;
    });
  const succeed = (from: number): void => {
    for (const { turn } of began.slice(from)) turn.succeeded();
  };

  for (const urgency of ['live', 'soon'] as const) {
    it(`(${urgency}) are 50 in the first second, and up to 500 while they are answered`, () => {
      wait(5000, urgency);
      let [first, most] = [0, 0];
      for (let second = 1; second <= 15; second++) {
        const before = began.length;
        for (let ms = 0; ms < 1000; ms++) {
          const from = began.length;
          tick(1, 1);
          succeed(from);
        }
        if (second === 1) first = began.length;
        most = Math.max(most, began.length - before);
      }
      assert.equal(began.length, 5000);
      assert.ok(first <= 50 && most > 450 && most <= 500, `${first}, then ${most}`);
    });
  }

  it('are no more a second while 16 are under way', () => {
    wait(20, 'live');
    tick(5000, 1);
    assert.equal(began.length, 15);
    wait(20, 'soon');
    tick(1000, 1);
    assert.equal(began.length, 16);
    assert.equal(began.at(-1)?.reader.urgency, 'soon');
    began.at(-1)?.turn.succeeded();
    began.at(-1)?.turn.cancel();
    tick(1000, 1);
    assert.equal(began.length, 17);
  });

  it('begin with those for which live uploads wait', () => {
    wait(20, 'soon');
    const [late] = wait(1, 'live');
    tick(100, 1);
    assert.equal(began[0]?.reader, late);
  });

  it('are for the others once in 16 turns, even if live uploads always wait', () => {
    wait(5000, 'live');
    wait(1, 'soon');
    for (let ms = 0; ms < 1000; ms++) {
      const from = began.length;
      tick(1, 1);
      succeed(from);
    }
    assert.ok(began.some(({ reader }) => reader.urgency === 'soon'));
  });

  it('count as failing when 16 in a row have failed, until one succeeds', () => {
    wait(17, 'soon');
    for (let ms = 0; ms < 60_000 && began.length < 17; ms++) {
      assert.equal(limiter.isFailing, began.length === 16);
      const from = began.length;
      tick(1, 1);
      for (const { turn } of began.slice(from, 16)) turn.failed('500');
    }
    assert.ok(limiter.isFailing);
    began[16]?.turn.succeeded();
    assert.ok(!limiter.isFailing);
  });

  it('are 20 a second if they are routine', () => {
    wait(1000, 'routine');
    for (let ms = 0; ms < 10_000; ms++) {
      const from = began.length;
      tick(1, 1);
      succeed(from);
    }
    assert.ok(began.length >= 198 && began.length <= 200, `${began.length} in ten seconds`);
  });

  it('are not started for devices that have left, nor after the close', () => {
    const [first, second] = wait(2, 'soon');
    limiter.cancel(first!);
    tick(100, 1);
    assert.deepEqual(
      began.map(({ reader }) => reader),
      [second],
    );
    wait(3, 'soon');
    wait(3, 'routine');
    limiter.close();
    tick(1000, 1);
    assert.equal(began.length, 1);
  });

  /** Starts a rush of connects. @returns a function that ends it */
  const rush = (): (() => void) => {
    const attempts = Array.from({ length: 1000 }, () => {
      const attempt = connects.acquire(() => attempt.failed('401'));
      return attempt;
    });
    return () => attempts.forEach((attempt) => attempt.cancel());
  };

  it('wait for the end of a rush of connects, and those under way go on', () => {
    wait(1, 'soon');
    tick(1, 1);
    const end = rush();
    wait(2, 'live');
    wait(1, 'soon');
    tick(5000, 1);
    assert.equal(began.length, 1);
    end();
    tick(200, 1);
    assert.equal(began.length, 4);
  });

  it('wait for 10 s of a rush at most, and again in the next one', () => {
    const end = rush();
    wait(1, 'live');
    tick(9999, 1);
    assert.equal(began.length, 0);
    tick(101, 1);
    assert.equal(began.length, 1);
    wait(1, 'live');
    tick(100, 1);
    assert.equal(began.length, 2);
    end();
    rush();
    wait(1, 'live');
    tick(5000, 1);
    assert.equal(began.length, 2);
  });

  it('are not started after a rush in which they were cancelled or the limiter was closed', () => {
    const end = rush();
    const [first] = wait(1, 'live');
    limiter.cancel(first!);
    end();
    tick(200, 1);
    rush();
    wait(1, 'live');
    limiter.close();
    tick(20_000, 1);
    assert.equal(began.length, 0);
  });

  it('wait as long as a refusal says', () => {
    wait(3, 'soon');
    tick(1, 1);
    began[0]?.turn.failed('503', 2000);
    tick(2400, 1);
    assert.equal(began.length, 1);
    tick(200, 1);
    assert.equal(began.length, 3);
  });
});
