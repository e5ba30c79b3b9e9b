import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { TimerQueue, type Timed } from '../../../src/channel/timer-queue';

describe('the deadlines of many connections on one timer', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }));
  // Not `restoreAll`, which would put the mocked `clearTimeout` back again after a later test.
  afterEach(() => mock.reset());

  const seen: [name: string, at: number][] = [];
  beforeEach(() => void (seen.length = 0));

  const timed = (name: string, onDue: () => void = () => undefined): Timed => ({
    due: 0,
    onDue() {
      seen.push([name, Date.now()]);
      onDue();
    },
  });

  it('are called in order, each at its time', () => {
    const timers = new TimerQueue(Date.now);
    const times = [70, 10, 50, 20, 90, 40, 30, 80, 60, 100];
    for (const at of times) timers.set(timed(String(at)), at);
    for (let ms = 0; ms < 100; ms++) mock.timers.tick(1);
    const sorted = [...times].sort((one, other) => one - other);
    assert.deepEqual(
      seen,
      sorted.map((at) => [String(at), at]),
    );
    assert.equal(timers.size, 0);
  });

  it('are not called once removed, from any place in the queue', () => {
    const timers = new TimerQueue(Date.now);
    const all = Array.from({ length: 100 }, (_, index) => timed(String(index)));
    all.forEach((each, index) => timers.set(each, 1 + ((index * 37) % 100)));
    const kept = new Set(all.filter((_, index) => index % 3 === 0));
    for (const each of all) if (!kept.has(each)) timers.remove(each);
    for (const each of all) if (!kept.has(each)) timers.remove(each);
    assert.equal(timers.size, kept.size);
    mock.timers.tick(100);
    assert.equal(seen.length, kept.size);
    for (const [name] of seen) assert.equal(Number(name) % 3, 0);
  });

  it('can be moved, to later and to sooner', () => {
    const timers = new TimerQueue(Date.now);
    const [one, other, third] = [timed('one'), timed('other'), timed('third')];
    timers.set(one, 10);
    timers.set(other, 20);
    timers.set(third, 30);
    timers.set(one, 40);
    timers.set(third, 5);
    for (let ms = 0; ms < 50; ms++) mock.timers.tick(1);
    assert.deepEqual(seen, [
      ['third', 5],
      ['other', 20],
      ['one', 40],
    ]);
  });

  it('may set and remove others when they are called', () => {
    const timers = new TimerQueue(Date.now);
    const gone = timed('gone');
    const again = timed('again', () => {
      timers.remove(gone);
      if (seen.length < 3) timers.set(again, 0);
    });
    timers.set(again, 10);
    timers.set(gone, 10);
    mock.timers.tick(10);
    mock.timers.tick(1);
    mock.timers.tick(1);
    assert.deepEqual(
      seen.map(([name]) => name),
      ['again', 'again', 'again'],
    );
  });

  it('continue after one that throws', () => {
    const timers = new TimerQueue(Date.now);
    timers.set(
      timed('throws', () => {
        throw new Error('no');
      }),
      10,
    );
    timers.set(timed('later'), 10);
    assert.throws(() => mock.timers.tick(10), /no/);
    mock.timers.tick(1);
    assert.deepEqual(seen.at(-1)?.[0], 'later');
  });

  it('leave no timer behind when the last one is removed', () => {
    const { mock: cleared } = mock.method(globalThis, 'clearTimeout');
    const timers = new TimerQueue(Date.now);
    const one = timed('one');
    timers.set(one, 10);
    timers.remove(one);
    assert.ok(cleared.callCount() > 0);
    mock.timers.tick(100);
    assert.deepEqual(seen, []);
    timers.set(one, 200);
    mock.timers.tick(100);
    assert.deepEqual(seen, [['one', 200]]);
  });
});
