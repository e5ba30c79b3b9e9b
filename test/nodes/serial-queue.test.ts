import assert from 'node:assert/strict';
import { settled } from '../tooling/until';
import { SerialQueue } from '../../nodes/common/action.runtime';

/** A task that ends when `end` is called. */
function task(): { run: () => Promise<string>; end: (value: string) => void; started: boolean } {
  let end: (value: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => (end = resolve));
  const made = {
    started: false,
    end,
    run: (): Promise<string> => {
      made.started = true;
      return ended;
    },
  };
  return made;
}

describe('a serial queue', () => {
  it('runs one task at a time, in the order in which they were added', async () => {
    const queue = new SerialQueue();
    const tasks = [task(), task(), task()];
    const results = tasks.map(({ run }) => queue.add(run));
    const started = (): boolean[] => tasks.map((each) => each.started);
    await settled(1);
    assert.deepEqual(started(), [true, false, false]);
    tasks[2]!.end('c');
    tasks[0]!.end('a');
    await settled(1);
    assert.deepEqual(started(), [true, true, false]);
    tasks[1]!.end('b');
    assert.deepEqual(await Promise.all(results), ['a', 'b', 'c']);
  });

  it('returns results in that order, before the next task starts', async () => {
    const queue = new SerialQueue();
    const log: string[] = [];
    const results = ['a', 'b', 'c'].map(async (name) => {
      await queue.add(() => void log.push(`start ${name}`));
      log.push(`end ${name}`);
    });
    await Promise.all(results);
    const order = ['start a', 'end a', 'start b', 'end b', 'start c', 'end c'];
    assert.deepEqual(log, order);
  });

  it('continues after a task that throws or rejects, and passes the error to its caller only', async () => {
    const queue = new SerialQueue();
    const thrown = queue.add(() => {
      throw new Error('thrown');
    });
    const rejected = queue.add(() => Promise.reject(new Error('rejected')));
    const last = queue.add(() => 'done');
    await assert.rejects(thrown, /thrown/);
    await assert.rejects(rejected, /rejected/);
    assert.equal(await last, 'done');
  });

  it('starts a task at once when nothing waits', async () => {
    const queue = new SerialQueue();
    await queue.add(() => 'first');
    await settled(1);
    const next = task();
    const result = queue.add(next.run);
    await settled(1);
    assert.equal(next.started, true);
    next.end('next');
    assert.equal(await result, 'next');
  });
});
