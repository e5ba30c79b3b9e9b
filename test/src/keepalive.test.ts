import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { startHeartbeat } from '../../src/heartbeat';
import { watchLiveness } from '../../src/liveness';

const MINUTE = 60_000;
const STEP = 50;

/** Lets time pass in small steps: a timer that another one starts then begins at its own time. */
function pass(ms: number): void {
  for (let left = ms; left > 0; left -= STEP) mock.timers.tick(Math.min(left, STEP));
}

describe('timers of a channel', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }));
  afterEach(() => mock.timers.reset());

  describe('the heartbeat', () => {
    it('comes first after a random part of the period, and then every period', () => {
      let beats = 0;
      const stop = startHeartbeat(
        () => beats++,
        300,
        () => 0.5,
      );
      pass(150_000 - 1);
      assert.equal(beats, 0);
      pass(1);
      assert.equal(beats, 1);
      pass(15 * MINUTE);
      assert.equal(beats, 4);
      stop();
      pass(60 * MINUTE);
      assert.equal(beats, 4);
    });

    it('can be stopped before the first', () => {
      let beats = 0;
      startHeartbeat(
        () => beats++,
        300,
        () => 0.5,
      )();
      pass(60 * MINUTE);
      assert.equal(beats, 0);
    });

    it('is off with 0', () => {
      let beats = 0;
      startHeartbeat(
        () => beats++,
        0,
        () => 0,
      )();
      pass(60 * MINUTE);
      assert.equal(beats, 0);
    });
  });

  describe('the watch for a peer that has gone silent', () => {
    const watch = (seconds: number, random = 0.999) => {
      const seen = { pings: 0, deaths: 0 };
      const watched = { ping: () => seen.pings++, dead: () => seen.deaths++ };
      return { seen, liveness: watchLiveness(watched, seconds, () => random) };
    };

    it('finds it within 90 s with a ping every 30 s, after two pings', () => {
      const { seen } = watch(30);
      pass(60_000);
      assert.deepEqual(seen, { pings: 2, deaths: 0 });
      pass(30_000);
      assert.deepEqual(seen, { pings: 2, deaths: 1 });
      pass(60 * MINUTE);
      assert.deepEqual(seen, { pings: 2, deaths: 1 }, 'it is told once');
    });

    it('lets a peer live that answers every other ping', () => {
      const { seen, liveness } = watch(30);
      for (let minute = 0; minute < 60; minute++) {
        pass(MINUTE);
        liveness.alive();
      }
      assert.equal(seen.deaths, 0);
      assert.ok(seen.pings >= 119, `${seen.pings} pings in an hour`);
    });

    it('can be stopped', () => {
      const { seen, liveness } = watch(30);
      pass(30_000);
      liveness.stop();
      pass(60 * MINUTE);
      assert.deepEqual(seen, { pings: 1, deaths: 0 });
    });

    it('is off with 0', () => {
      const { seen } = watch(0);
      pass(60 * MINUTE);
      assert.deepEqual(seen, { pings: 0, deaths: 0 });
    });
  });
});
