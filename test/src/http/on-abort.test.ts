import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { onAbort } from '../../../src/http/deadline';

describe('calls that share a signal', () => {
  it('are all told when it aborts, but those that took their callback back', () => {
    const controller = new AbortController();
    const told: string[] = [];
    onAbort(controller.signal, () => told.push('a'));
    const ignore = onAbort(controller.signal, () => told.push('b'));
    onAbort(controller.signal, () => told.push('c'));
    ignore();
    controller.abort();
    assert.deepEqual(told, ['a', 'c']);
  });

  it('are told when one of them ends the others', () => {
    const controller = new AbortController();
    const told: string[] = [];
    onAbort(controller.signal, () => {
      told.push('a');
      ignore();
    });
    const ignore = onAbort(controller.signal, () => told.push('b'));
    onAbort(controller.signal, () => told.push('c'));
    controller.abort();
    assert.deepEqual(told, ['a', 'c']);
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
