import assert from 'node:assert/strict';
import { commands } from '../support/commands';
import type { CallProgress } from '../../../src/types';
import { settled } from '../../tooling/until';

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
