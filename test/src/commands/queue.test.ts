import assert from 'node:assert/strict';
import { Command, Queues, type QueueObserver } from '../../../src/commands/queue';
import { DeviceCloudError } from '../../../src/errors';
import type { CallProgress } from '../../../src/types';
import { failure } from '../support/failure';
import { manual, type Manual } from '../support/manual';
import { settled } from '../../tooling/until';
import { pass, tick, useClock } from '../../support/clock';

/** Commands that a test ends by hand, noted as they start. */
function commands(gap = 0, observer?: QueueObserver) {
  const queues = new Queues(gap, { observer });
  const started: string[] = [];
  const running = new Map<string, Manual<string>>();
  const run = (chipid: string, name: string, signal?: AbortSignal): Promise<string> =>
    queues.call(
      chipid,
      () => {
        started.push(name);
        const command = manual<string>();
        running.set(name, command);
        return command.promise;
      },
      { signal },
    );
  const end = async (name: string): Promise<void> => {
    running.get(name)!.resolve(name);
    await settled();
  };
  return { queues, started, running, run, end };
}

describe('the queue of a device', () => {
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

/** Progress as a line: places as numbers. */
const lineOf = (all: readonly CallProgress[]): string =>
  all.map((each) => (each.state === 'waiting' ? String(each.ahead) : each.state)).join(' ');

function watched(world: ReturnType<typeof commands>, signal?: AbortSignal): CallProgress[] {
  const seen: CallProgress[] = [];
  const progress = (each: CallProgress): void => void seen.push(each);
  void world.queues.call('1', () => Promise.resolve(), { signal, progress }).catch(() => undefined);
  return seen;
}

describe('the progress of a command', () => {
  it('is the place in the queue each time it changes, then the call', async () => {
    const world = commands();
    const first = watched(world);
    assert.equal(lineOf(first), 'calling');
    await settled();
    void world.run('1', 'a');
    const controller = new AbortController();
    void world.run('1', 'b', controller.signal).catch(() => undefined);
    void world.run('1', 'c');
    const seen = watched(world);
    controller.abort();
    await world.end('a');
    await world.end('c');
    assert.equal(lineOf(seen), '3 2 1 calling');
  });

  it('shows an observer how many commands of each device wait and run', async () => {
    const seen: string[] = [];
    const world = commands(0, (...load) => void seen.push(load.join(' ')));
    const controller = new AbortController();
    void world.run('1', 'a');
    void world.run('1', 'b');
    void world.run('1', 'c', controller.signal).catch(() => undefined);
    controller.abort();
    await world.end('a');
    await world.end('b');
    assert.deepEqual(seen, ['1 0 1', '1 1 1', '1 2 1', '1 1 1', '1 0 1', '1 0 0']);
  });
});
