import assert from 'node:assert/strict';
import { FlushQueue } from '../../../src/channel/keepalive';
import { tick, useClock } from '../../support/clock';

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
