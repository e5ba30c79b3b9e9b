import assert from 'node:assert/strict';
import { FlushQueue, Keepalive, type PingAnswers } from '../../../src/channel/keepalive';
import { TimerQueue } from '../../../src/channel/timer-queue';
import { tick, useClock } from '../../support/clock';

const MINUTE = 60_000;
const STEP = 50;

describe('the keepalive of a channel', () => {
  useClock();

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
    const { heartbeat = 0, ping = 0 } = seconds;
    const settings = {
      ...{ heartbeat: heartbeat * 1000, ping: ping * 1000 },
      ...{ random: () => random, timers },
    };
    const keepalive = new Keepalive(connection, settings, answers);
    keepalive.start();
    return { seen, keepalive };
  };
  const answering = (): PingAnswers => ({ areExpected: true });

  describe('the heartbeat', () => {
    const beats = (heartbeat: number) => start({ heartbeat }, 0.5, { areExpected: false });

    it('comes first after a random part of the period, and then every period', () => {
      const { seen, keepalive } = beats(300);
      tick(150_000 - 1, STEP);
      assert.equal(seen.beats, 0);
      tick(1, STEP);
      assert.equal(seen.beats, 1);
      tick(15 * MINUTE, STEP);
      assert.equal(seen.beats, 4);
      keepalive.stop();
      tick(60 * MINUTE, STEP);
      assert.equal(seen.beats, 4);
    });

    it('can be stopped before the first, and is off with 0', () => {
      const [stopped, off] = [beats(300), beats(0)];
      stopped.keepalive.stop();
      tick(60 * MINUTE, STEP);
      assert.deepEqual([stopped.seen.beats, off.seen.beats], [0, 0]);
    });
  });

  describe('the detection of a silent peer', () => {
    const watch = (ping: number, answers = answering()) => start({ ping }, 0.999, answers);

    it('takes at most 90 s with a ping every 30 s, after two pings', () => {
      const { seen } = watch(30);
      tick(60_000, STEP);
      assert.deepEqual(seen, { beats: 0, pings: 2, silent: 0 });
      tick(30_000, STEP);
      assert.deepEqual(seen, { beats: 0, pings: 2, silent: 1 });
      tick(60 * MINUTE, STEP);
      assert.deepEqual(seen, { beats: 0, pings: 2, silent: 1 }, 'it is reported once');
    });

    it('continues to ping a peer that has never answered one, until it does', () => {
      const answers = { areExpected: false };
      const { seen, keepalive } = watch(30, answers);
      tick(60 * MINUTE, STEP);
      assert.equal(seen.silent, 0);
      assert.ok(seen.pings >= 119, `${seen.pings} pings in an hour`);
      answers.areExpected = true;
      keepalive.hasHeard = true;
      tick(90_000, STEP);
      assert.equal(seen.silent, 1);
    });

    it('does not end a connection whose peer answers every other ping', () => {
      const { seen, keepalive } = watch(30);
      for (let minute = 0; minute < 60; minute++) {
        tick(MINUTE, STEP);
        keepalive.hasHeard = true;
      }
      assert.equal(seen.silent, 0);
      assert.ok(seen.pings >= 119, `${seen.pings} pings in an hour`);
    });

    it('expects answers on later connections', () => {
      const answers = answering();
      for (let connection = 0; connection < 4; connection++) {
        const { seen } = watch(30, answers);
        tick(90_000, STEP);
        assert.equal(seen.silent, 1);
      }
    });

    it('can be stopped, and is off with 0', () => {
      const [stopped, off] = [watch(30), watch(0)];
      tick(30_000, STEP);
      stopped.keepalive.stop();
      tick(60 * MINUTE, STEP);
      assert.deepEqual(stopped.seen, { beats: 0, pings: 1, silent: 0 });
      assert.deepEqual(off.seen, { beats: 0, pings: 0, silent: 0 });
    });
  });
});

describe('a flush of what a peer has sent', () => {
  useClock();

  const start = ({ watched = true, answers = true }) => {
    const flushed: string[] = [];
    const known = { areExpected: false };
    if (answers) known.areExpected = true;
    let pings = 0;
    const queue = new FlushQueue({ ping: () => ++pings }, known, watched);
    const add = (name: string): void => queue.add(() => flushed.push(name));
    return { flushed, known, queue, add, pings: () => pings };
  };

  it('ends with the pong, which also ends earlier ones', () => {
    const { flushed, queue, add } = start({});
    add('first');
    add('second');
    add('third');
    assert.deepEqual(flushed, []);
    queue.pong(2);
    assert.deepEqual(flushed, ['first', 'second']);
    queue.pong(1);
    assert.deepEqual(flushed, ['first', 'second']);
    queue.end();
    assert.deepEqual(flushed, ['first', 'second', 'third']);
    queue.pong(3);
    assert.equal(flushed.length, 3);
  });

  it('waits while the network stalls, since delayed frames would be emitted twice', () => {
    const { flushed, queue, add } = start({});
    add('flush');
    queue.hasHeard = true;
    tick(60_000);
    assert.deepEqual(flushed, []);
    queue.hasHeard = true;
    queue.pong(1);
    assert.deepEqual(flushed, ['flush']);
  });

  it('gives up on a peer that still sends frames but no pongs', () => {
    const { flushed, queue, add } = start({});
    add('flush');
    tick(5000);
    queue.hasHeard = true;
    tick(5000);
    assert.deepEqual(flushed, ['flush']);
  });

  for (const [what, options] of [
    ['where pings are off, and sends none', { watched: false }],
    ['with a peer that has never answered a ping', { answers: false }],
  ] as const) {
    it(`waits no longer than 5 s ${what}`, () => {
      const { flushed, add, pings } = start(options);
      add('flush');
      assert.equal(pings(), 'watched' in options ? 0 : 1);
      tick(4999);
      assert.deepEqual(flushed, []);
      tick(1);
      assert.deepEqual(flushed, ['flush']);
    });
  }

  it('may be started again from its own callback', () => {
    const { flushed, queue, add } = start({});
    queue.add(() => add('next'));
    queue.pong(1);
    assert.deepEqual(flushed, []);
    queue.pong(2);
    assert.deepEqual(flushed, ['next']);
  });
});
