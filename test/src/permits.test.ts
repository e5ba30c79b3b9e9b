import assert from 'node:assert/strict';
import { CallEnd, createDeadlines } from '../../src/deadline';
import { createPermits } from '../../src/permits';
import { settled } from './support/until';

describe('the calls that may run at once', () => {
  const deadlines = createDeadlines();
  const start = (signal?: AbortSignal) => deadlines.start(60, signal);

  it('are as many as there are connections; the others follow in order', async () => {
    const permits = createPermits(2);
    assert.equal(permits.take(start()), undefined);
    assert.equal(permits.take(start()), undefined);
    const turns: string[] = [];
    void permits.take(start())?.then(() => turns.push('a'));
    void permits.take(start())?.then(() => turns.push('b'));
    await settled();
    assert.deepEqual(turns, []);
    permits.give();
    await settled();
    assert.deepEqual(turns, ['a']);
    permits.give();
    await settled();
    assert.deepEqual(turns, ['a', 'b']);
    deadlines.close();
  });

  it('lose no place to one that gave up while it waited', async () => {
    const own = createDeadlines();
    const permits = createPermits(1);
    const controller = new AbortController();
    assert.equal(permits.take(own.start(60)), undefined);
    const waiting = permits.take(own.start(60, controller.signal));
    controller.abort();
    await assert.rejects(waiting ?? Promise.resolve(), CallEnd);
    permits.give();
    assert.equal(permits.take(own.start(60)), undefined, 'the place is free again');
    own.close();
  });
});
