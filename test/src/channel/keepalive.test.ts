import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Keepalive, PingAnswers } from '../../../src/channel/keepalive';
import { TimerQueue } from '../../../src/channel/timer-queue';

const MINUTE = 60_000;
const STEP = 50;

/** Lets time pass in small steps: a timer that another one starts then begins at its own time. */
function pass(ms: number): void {
  for (let left = ms; left > 0; left -= STEP) mock.timers.tick(Math.min(left, STEP));
}

describe('the keepalive of a channel', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }));
  afterEach(() => mock.timers.reset());

  const start = (
    seconds: { heartbeat?: number; ping?: number },
    random: number,
    answers: PingAnswers,
  ) => {
    const seen = { beats: 0, pings: 0, silent: 0 };
    const connection = {
      sendHeartbeat: () => seen.beats++,
      ping: () => seen.pings++,
      silent: () => seen.silent++,
    };
    const timers = new TimerQueue(Date.now);
    const settings = { heartbeat: 0, ping: 0, random: () => random, timers, ...seconds };
    const keepalive = new Keepalive(connection, settings, answers);
    keepalive.start();
    return { seen, keepalive };
  };
  const answering = (): PingAnswers => {
    const answers = new PingAnswers();
    answers.answered();
    return answers;
  };

  describe('the heartbeat', () => {
    const beats = (heartbeat: number) => start({ heartbeat }, 0.5, new PingAnswers());

    it('comes first after a random part of the period, and then every period', () => {
      const { seen, keepalive } = beats(300);
      pass(150_000 - 1);
      assert.equal(seen.beats, 0);
      pass(1);
      assert.equal(seen.beats, 1);
      pass(15 * MINUTE);
      assert.equal(seen.beats, 4);
      keepalive.stop();
      pass(60 * MINUTE);
      assert.equal(seen.beats, 4);
    });

    it('can be stopped before the first', () => {
      const { seen, keepalive } = beats(300);
      keepalive.stop();
      pass(60 * MINUTE);
      assert.equal(seen.beats, 0);
    });

    it('is off with 0', () => {
      const { seen } = beats(0);
      pass(60 * MINUTE);
      assert.equal(seen.beats, 0);
    });
  });

  describe('the detection of a silent peer', () => {
    const watch = (ping: number, answers = answering()) => start({ ping }, 0.999, answers);

    it('takes at most 90 s with a ping every 30 s, after two pings', () => {
      const { seen } = watch(30);
      pass(60_000);
      assert.deepEqual(seen, { beats: 0, pings: 2, silent: 0 });
      pass(30_000);
      assert.deepEqual(seen, { beats: 0, pings: 2, silent: 1 });
      pass(60 * MINUTE);
      assert.deepEqual(seen, { beats: 0, pings: 2, silent: 1 }, 'it is reported once');
    });

    it('continues to ping a peer that has never answered one, until it does', () => {
      const answers = new PingAnswers();
      const { seen, keepalive } = watch(30, answers);
      pass(60 * MINUTE);
      assert.equal(seen.silent, 0);
      assert.ok(seen.pings >= 119, `${seen.pings} pings in an hour`);
      answers.answered();
      keepalive.heard();
      pass(90_000);
      assert.equal(seen.silent, 1);
    });

    it('does not end a connection whose peer answers every other ping', () => {
      const { seen, keepalive } = watch(30);
      for (let minute = 0; minute < 60; minute++) {
        pass(MINUTE);
        keepalive.heard();
      }
      assert.equal(seen.silent, 0);
      assert.ok(seen.pings >= 119, `${seen.pings} pings in an hour`);
    });

    it('expects answers on later connections, until five in a row had none', () => {
      const answers = answering();
      for (let connection = 0; connection < 4; connection++) {
        const { seen } = watch(30, answers);
        pass(90_000);
        assert.equal(seen.silent, 1);
      }
      answers.answered();
      for (let connection = 0; connection < 5; connection++) {
        const { seen } = watch(30, answers);
        pass(90_000);
        assert.equal(seen.silent, 1);
      }
      const { seen } = watch(30, answers);
      pass(60 * MINUTE);
      assert.equal(seen.silent, 0);
    });

    it('can be stopped', () => {
      const { seen, keepalive } = watch(30);
      pass(30_000);
      keepalive.stop();
      pass(60 * MINUTE);
      assert.deepEqual(seen, { beats: 0, pings: 1, silent: 0 });
    });

    it('is off with 0', () => {
      const { seen } = watch(0);
      pass(60 * MINUTE);
      assert.deepEqual(seen, { beats: 0, pings: 0, silent: 0 });
    });
  });
});
