import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { Deadlines, onAbort } from '../../../src/http/deadline';
import { tick, useClock } from '../../support/clock';

describe('the deadline of a call', () => {
  useClock();

  it('calls back once, with its reason', () => {
    const reasons: string[] = [];
    const controller = new AbortController();
    const deadline = new Deadlines().start(2000, controller.signal);
    deadline.listen((end) => reasons.push(end.reason));
    tick(1999);
    assert.deepEqual(reasons, []);
    tick(1);
    controller.abort();
    assert.deepEqual(reasons, ['timeout']);
  });

  it('ends all calls, and every later one, when the client is closed', () => {
    const deadlines = new Deadlines();
    const reasons: string[] = [];
    deadlines.start(2000).listen((end) => reasons.push(end.reason));
    deadlines.close();
    deadlines.start(2000).listen((end) => reasons.push(end.reason));
    assert.deepEqual(reasons, ['aborted', 'aborted']);
  });

  it('does not call back when the call is over', () => {
    const controller = new AbortController();
    const deadlines = new Deadlines();
    const deadline = deadlines.start(2000, controller.signal);
    deadline.listen(() => assert.fail('it called back'));
    deadline.clear();
    controller.abort();
    deadlines.close();
    tick(10_000);
    assert.equal(deadline.ended, undefined);
  });

  it('may be later than a timer can be, and never ends the call early', () => {
    const deadline = new Deadlines().start(1e15);
    tick(24 * 60 * 60 * 1000);
    assert.equal(deadline.ended, undefined);
    deadline.clear();
  });
});

describe('callbacks that share a signal', () => {
  it('are all called when it aborts, except those that were removed', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    onAbort(controller.signal, () => calls.push('a'));
    const ignore = onAbort(controller.signal, () => calls.push('b'));
    onAbort(controller.signal, () => calls.push('c'));
    ignore();
    controller.abort();
    assert.deepEqual(calls, ['a', 'c']);
  });

  it('share one listener, which goes with the last of them', () => {
    const { signal } = new AbortController();
    const count = (): number => getEventListeners(signal, 'abort').length;
    const ignores = Array.from({ length: 100 }, () => onAbort(signal, () => undefined));
    assert.equal(count(), 1);
    for (const ignore of ignores) ignore();
    for (const ignore of ignores) ignore();
    assert.equal(count(), 0);
    onAbort(signal, () => undefined);
    assert.equal(count(), 1);
  });
});
