import assert from 'node:assert/strict';
import { ReconnectBackoff } from '../../../src/channel/channel';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const SEEDS = 200;

/** Numbers from 0 to 1 that are the same in each run. */
function numbers(seed: number): () => number {
  let state = (seed * 2_654_435_761) % 2_147_483_647 || 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

interface Course {
  /** The share of the time in which the channel was connected. */
  connected: number;
  /** When each attempt was made, in ms. */
  attempts: number[];
}

/** Lets a channel connect again and again. @param openFor how long its connections last, 0 if none opens */
function run(backoff: ReconnectBackoff, openFor: number, duration: number): Course {
  const attempts: number[] = [];
  let connected = 0;
  for (let now = 0; now < duration;) {
    attempts.push(now);
    connected += Math.min(openFor, duration - now);
    now += openFor + backoff.pause(openFor);
  }
  return { connected: connected / duration, attempts };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const courses = (openFor: number, duration: number): Course[] =>
  Array.from({ length: SEEDS }, (_, seed) =>
    run(new ReconnectBackoff(numbers(seed)), openFor, duration),
  );

describe('the pause before a channel reconnects', () => {
  const limits = (openFor: number, times: number): number[] => {
    const backoff = new ReconnectBackoff(() => 1);
    return Array.from({ length: times }, () => Math.round(backoff.pause(openFor)));
  };

  it('is random up to a limit, which doubles from 1 s up to 60 s while attempts fail', () => {
    assert.deepEqual(
      limits(0, 9),
      [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000],
    );
    assert.equal(limits(0, 10_000).at(-1), 60_000);
    assert.equal(new ReconnectBackoff(() => 0).pause(0), 0);
    assert.equal(new ReconnectBackoff(() => 0.25).pause(0), 250);
  });

  it('has a limit that falls with the time that the last connection was open', () => {
    const after = (openFor: number): number => Math.round(limits(openFor, 20).at(-1)!);
    assert.deepEqual(
      [0, 1, 5, 10, 20, 24, 60].map((seconds) => after(seconds * SECOND)),
      [60_000, 50_454, 25_227, 10_607, 1875, 1000, 1000],
    );
  });

  it('starts over after one good connection, and grows again from there', () => {
    const backoff = new ReconnectBackoff(() => 1);
    for (let attempt = 0; attempt < 100; attempt++) backoff.pause(0);
    assert.equal(backoff.pause(MINUTE), 1000);
    assert.equal(backoff.pause(0), 2000);
  });

  it('is 30 s to 60 s after a refusal that only a person can fix', () => {
    assert.deepEqual(
      [0, 0.5, 1].map((random) => new ReconnectBackoff(() => random).slowPause()),
      [30_000, 45_000, 60_000],
    );
  });

  // Seconds after which each connection is cut; the least and the largest mean share of ten minutes.
  const cuts: [seconds: number, least: number, most: number][] = [
    [1, 0.04, 0.12],
    [5, 0.25, 0.4],
    [20, 0.94, 0.97],
    [60, 0.985, 1],
    [300, 0.995, 1],
  ];
  for (const [seconds, least, most] of cuts) {
    it(`keeps a channel that is cut every ${seconds} s connected ${least * 100} % of ten minutes`, () => {
      const shares = courses(seconds * SECOND, 10 * MINUTE).map(({ connected }) => connected);
      const share = mean(shares);
      assert.ok(share >= least && share <= most, `${share} of the time`);
      if (seconds >= 20) assert.ok(Math.min(...shares) >= 0.9, `${Math.min(...shares)} at worst`);
    });
  }

  it('keeps it connected as long after an hour without an answer', () => {
    const shares = Array.from({ length: SEEDS }, (_, seed) => {
      const backoff = new ReconnectBackoff(numbers(seed));
      run(backoff, 0, HOUR);
      return run(backoff, 20 * SECOND, 10 * MINUTE).connected;
    });
    assert.ok(Math.min(...shares) >= 0.9, `${Math.min(...shares)} at worst`);
  });

  for (const [what, openFor] of [
    ['is down', 0],
    ['accepts and closes at once', 5],
  ] as const) {
    it(`makes about two attempts a minute at a service that ${what} for an hour`, () => {
      const all = courses(openFor, HOUR);
      const last = all.map(({ attempts }) => attempts.filter((at) => at >= HOUR / 2).length / 30);
      assert.ok(mean(last) > 1.8 && mean(last) < 2.2, `${mean(last)} a minute`);
      const first = all.map(({ attempts }) => attempts.filter((at) => at < MINUTE).length);
      assert.ok(mean(first) < 9, `${mean(first)} in the first minute`);
    });
  }

  it('spreads the channels of a service that is down', () => {
    const { size } = new Set(courses(0, HOUR).map(({ attempts }) => attempts.at(-1)));
    assert.equal(size, SEEDS);
  });
});
