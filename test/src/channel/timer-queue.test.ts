import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { TimerQueue, type Timed } from '../../../src/channel/timer-queue';

describe('the deadlines of many connections on one timer', () => {
  let timers: TimerQueue;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    timers = new TimerQueue(Date.now);
    seen.length = 0;
  });
  // Not `restoreAll`, which would put the mocked `clearTimeout` back again after a later test.
  afterEach(() => mock.reset());

  const seen: [name: string, at: number][] = [];
  const timed = (name: string, onDue: () => void = () => undefined): Timed => ({
    due: 0,
    onDue() {
      seen.push([name, Date.now()]);
      onDue();
    },
  });
  /** @param more whether something is still queued then */
  const pass = (ms: number, more = false): void => {
    for (let passed = 0; passed < ms; passed++) mock.timers.tick(1);
    assert.equal(timers.size > 0, more);
  };

  it('are called at the next look, none before its time', () => {
    for (const at of [200, 30, 100, 101]) timers.set(timed(String(at)), at);
    pass(300);
    assert.deepEqual(seen, [
      ['30', 100],
      ['100', 100],
      ['200', 200],
      ['101', 200],
    ]);
  });

  it('can be moved, to later and to sooner', () => {
    const [one, other] = [timed('one'), timed('other')];
    timers.set(one, 50);
    timers.set(other, 300);
    timers.set(one, 150);
    timers.set(other, 50);
    pass(300);
    assert.deepEqual(seen, [
      ['other', 100],
      ['one', 200],
    ]);
  });

  it('may set and remove others when they are called, or themselves', () => {
    const gone = timed('gone');
    const again = timed('again', () => {
      if (seen.length > 1) return;
      timers.remove(gone);
      timers.set(moved, 150);
      timers.set(again, 0);
    });
    const moved = timed('moved');
    for (const each of [again, gone, moved]) timers.set(each, 10);
    pass(300);
    assert.deepEqual(seen, [
      ['again', 100],
      ['moved', 200],
      ['again', 200],
    ]);
  });

  it('continue after one that throws', () => {
    const fail = (): never => {
      throw new Error('no');
    };
    timers.set(timed('throws', fail), 10);
    timers.set(timed('later'), 10);
    assert.throws(() => pass(100), /no/);
    pass(100);
    assert.deepEqual(seen.at(-1)?.[0], 'later');
  });

  it('leave no timer behind when the last one is removed', () => {
    const { mock: cleared } = mock.method(globalThis, 'clearTimeout');
    const one = timed('one');
    timers.set(one, 10);
    timers.remove(one);
    assert.ok(cleared.callCount() > 0);
    pass(100);
    assert.deepEqual(seen, []);
    timers.set(one, 250);
    pass(100, true);
    pass(100);
    assert.deepEqual(seen, [['one', 300]]);
  });
});
