import assert from 'node:assert/strict';
import { commands } from '../support/commands';
import { failure } from '../support/failure';
import { settled } from '../../tooling/until';
import { pass, tick, useClock } from '../../support/clock';

describe('the gap between two commands to a device', () => {
  useClock();

  it('runs from the end of one to the start of the next, also for one that comes meanwhile', async () => {
    const { queues, started, run, end } = commands(500);
    void run('1', 'a');
    await settled();
    await end('a');
    void run('1', 'b');
    void run('2', 'c');
    await settled();
    assert.deepEqual(started, ['a', 'c'], 'another device does not wait');
    await pass(499);
    assert.deepEqual(started, ['a', 'c']);
    await pass(1);
    assert.deepEqual(started, ['a', 'c', 'b']);
    await end('b');
    await end('c');
    tick(500);
    assert.equal(queues.size, 0, 'the last gap ends, too');
  });

  it('leaves no timer when it is closed', async () => {
    const { queues, started, run, end } = commands(500);
    void run('1', 'a');
    await settled();
    await end('a');
    const waiting = run('1', 'b');
    queues.close();
    await failure(waiting, 'UNREACHABLE');
    await pass(10_000);
    assert.deepEqual(started, ['a']);
  });
});
