import assert from 'node:assert/strict';
import { Command, Queues } from '../../../src/commands/queue';
import { DeviceCloudError } from '../../../src/errors';
import type { CallProgress } from '../../../src/types';
import { commands } from '../support/commands';
import { failure } from '../support/failure';
import { settled } from '../../tooling/until';

describe('the queue of a device', () => {
  it('runs commands in the order of arrival, one at a time', async () => {
    const { started, run, end } = commands();
    const all = ['a', 'b', 'c'].map((name) => run('1', name));
    await settled();
    assert.deepEqual(started, ['a']);
    await end('a');
    assert.deepEqual(started, ['a', 'b']);
    await end('b');
    await end('c');
    assert.deepEqual(await Promise.all(all), ['a', 'b', 'c']);
  });

  it('does not delay another device', async () => {
    const { started, run } = commands();
    void run('1', 'a');
    void run('1', 'b');
    void run('2', 'c');
    await settled();
    assert.deepEqual(started, ['a', 'c']);
  });

  it('continues after a command that failed, or threw at once', async () => {
    const { queues, started, running, run } = commands();
    const failed = run('1', 'a');
    const threw = queues.call('1', () => {
      throw new Error('at once');
    });
    const next = run('1', 'b');
    running.get('a')!.reject(new Error('failed'));
    await assert.rejects(failed, /failed/);
    await assert.rejects(threw, /at once/);
    await settled();
    assert.deepEqual(started, ['a', 'b']);
    running.get('b')!.resolve('b');
    assert.equal(await next, 'b');
  });

  it('has room for one that runs and 100 that wait; the next is QUEUE_FULL', async () => {
    const { queues, started, run, end } = commands();
    const taken = Array.from({ length: 101 }, (_, index) => run('1', String(index)));
    const { message } = await failure(run('1', 'one more'), 'QUEUE_FULL');
    assert.match(message, /device 1 /);
    void run('2', 'x');
    await end('0');
    void run('1', 'last').catch(() => undefined);
    await failure(run('1', 'one more'), 'QUEUE_FULL');
    queues.close();
    const refused = await Promise.allSettled(taken.slice(2));
    assert.ok(refused.every(({ status }) => status === 'rejected'));
    assert.deepEqual(started, ['0', 'x', '1']);
  });

  it('removes a command that is aborted while it waits', async () => {
    const { started, run, end } = commands();
    const controller = new AbortController();
    void run('1', 'a');
    const unwanted = run('1', 'b', controller.signal);
    const last = run('1', 'c');
    controller.abort();
    assert.match((await failure(unwanted, 'UNREACHABLE')).message, /Not sent/);
    await end('a');
    assert.deepEqual(started, ['a', 'c']);
    await end('c');
    assert.equal(await last, 'c');
  });

  it('refuses waiting commands when it is closed, and leaves the running one alone', async () => {
    const { queues, run, end } = commands();
    const running = run('1', 'a');
    const waiting = run('1', 'b');
    queues.close();
    await failure(waiting, 'UNREACHABLE');
    assert.equal(queues.size, 0);
    await end('a');
    assert.equal(await running, 'a');
    assert.equal(queues.size, 0);
  });

  it('never starts a command that is refused just as its turn comes', async () => {
    const queues = new Queues(0);
    let end!: () => void;
    const running = queues.call('1', () => new Promise<void>((resolve) => (end = resolve)));
    const begun: string[] = [];
    const work = (name: string) => async (): Promise<void> => void begun.push(name);
    const next = new Command('1', work('next'), {});
    const refused = failure(queues.run(next), 'CANCELLED');
    const progress = (now: CallProgress): void => {
      if (now.state === 'waiting' && now.ahead === 1)
        queues.refuse(next, new DeviceCloudError('CANCELLED', 'no'));
    };
    const last = queues.call('1', work('last'), { progress });
    end();
    await Promise.all([running, refused, last]);
    assert.deepEqual(begun, ['last']);
  });
});
