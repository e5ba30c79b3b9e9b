import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { commands } from '../support/commands';
import { failure } from '../support/failure';
import { settled } from '../../../tooling/until';

describe('the gap between two commands to a device', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('runs from the end of one to the start of the next, also for one that comes meanwhile', async () => {
    const { queues, started, run, end } = commands(500);
    void run('1', 'a');
    await settled();
    await end('a');
    void run('1', 'b');
    void run('2', 'c');
    await settled();
    assert.deepEqual(started, ['a', 'c'], 'another device does not wait');
    mock.timers.tick(499);
    await settled();
    assert.deepEqual(started, ['a', 'c']);
    mock.timers.tick(1);
    await settled();
    assert.deepEqual(started, ['a', 'c', 'b']);
    await end('b');
    await end('c');
    mock.timers.tick(500);
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
    mock.timers.tick(10_000);
    await settled();
    assert.deepEqual(started, ['a']);
  });
});
