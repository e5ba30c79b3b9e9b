import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { abortReason, onAbort } from '../../../src/http/deadline';

describe('calls that share a signal', () => {
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

  it('are called even if one of them ends the others', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    onAbort(controller.signal, () => {
      calls.push('a');
      ignore();
    });
    const ignore = onAbort(controller.signal, () => calls.push('b'));
    onAbort(controller.signal, () => calls.push('c'));
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

describe('the reason of an abort', () => {
  it('is ignored if it throws when it is read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const mute = Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('nobody catches this');
      },
    });
    for (const reason of [proxy, mute]) {
      assert.equal(abortReason(AbortSignal.abort(reason)), 'the caller aborted it');
    }
  });
});
