import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createFences } from '../../src/fences';

describe('fences in what a peer sends', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  const start = (watched: boolean) => {
    const pings: string[] = [];
    const passed: string[] = [];
    const fences = createFences((data) => void pings.push(data), watched);
    return { pings, passed, fences, add: (name: string) => fences.add(() => passed.push(name)) };
  };

  it('passes with the pong, those before with it, and not with one that nobody asked for', () => {
    const { pings, passed, fences, add } = start(true);
    add('first');
    add('second');
    add('third');
    fences.pong('');
    fences.pong('a pong of liveness');
    assert.deepEqual(passed, []);
    fences.pong(pings[1]!);
    assert.deepEqual(passed, ['first', 'second']);
    fences.end();
    assert.deepEqual(passed, ['first', 'second', 'third']);
  });

  it('waits for a network that stalls, since what it holds back would come twice', () => {
    const { pings, passed, fences, add } = start(true);
    add('fence');
    fences.heard();
    mock.timers.tick(60_000);
    assert.deepEqual(passed, []);
    fences.heard();
    fences.pong(pings[0]!);
    assert.deepEqual(passed, ['fence']);
  });

  it('does not wait for ever for a peer that sends frames but no pongs', () => {
    const { passed, fences, add } = start(true);
    add('fence');
    mock.timers.tick(5000);
    fences.heard();
    mock.timers.tick(5000);
    assert.deepEqual(passed, ['fence']);
  });

  it('waits briefly where pings are off', () => {
    const { passed, add } = start(false);
    add('fence');
    mock.timers.tick(4999);
    assert.deepEqual(passed, []);
    mock.timers.tick(1);
    assert.deepEqual(passed, ['fence']);
  });
});
