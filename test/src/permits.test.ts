import assert from 'node:assert/strict';
import { CallEnd, createDeadlines, type Deadline } from '../../src/deadline';
import { createPermits } from '../../src/permits';
import { settled } from './support/until';

describe('the calls that may run at once', () => {
  const started: Deadline[] = [];
  const start = (signal?: AbortSignal): Deadline => {
    const deadline = createDeadlines().start(60, signal);
    started.push(deadline);
    return deadline;
  };
  // One that is not cleared keeps the process for its minute.
  afterEach(() => {
    for (const deadline of started.splice(0)) deadline.clear();
  });

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
  });

  it('lose no place to one that gave up while it waited', async () => {
    const permits = createPermits(1);
    const controller = new AbortController();
    assert.equal(permits.take(start()), undefined);
    const waiting = permits.take(start(controller.signal));
    controller.abort();
    await assert.rejects(waiting ?? Promise.resolve(), CallEnd);
    permits.give();
    assert.equal(permits.take(start()), undefined, 'the place is free again');
  });
});
