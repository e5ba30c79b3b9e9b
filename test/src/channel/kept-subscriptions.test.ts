import assert from 'node:assert/strict';
import { KeptSubscriptions } from '../../../src/channel/pool';
import { tick, useClock } from '../../support/clock';

const MINUTE = 60_000;

describe('the subscriptions of commands', () => {
  let kept: KeptSubscriptions<{ release(): void }>;
  let [opened, released] = [0, 0];
  const use = () =>
    kept.use('1', () => {
      opened++;
      return { release: () => released++ };
    });

  useClock();
  beforeEach(() => {
    kept = new KeptSubscriptions();
    [opened, released] = [0, 0];
  });

  it('are shared, and released five minutes after the last use', () => {
    const [first, second] = [use(), use()];
    assert.deepEqual([first === second, opened], [true, 1]);
    kept.leave('1', first);
    tick(9 * MINUTE);
    kept.leave('1', second);
    tick(4 * MINUTE);
    const third = use();
    tick(9 * MINUTE);
    assert.deepEqual([opened, released], [1, 0]);
    kept.leave('1', third);
    tick(5 * MINUTE);
    assert.deepEqual([opened, released], [1, 1]);
  });

  it('are released once when they are closed, whether they are used or not', () => {
    const used = use();
    kept.close();
    kept.leave('1', used);
    assert.equal(released, 1);
    kept.leave('1', use());
    tick(9 * MINUTE);
    assert.deepEqual([opened, released], [2, 2]);
  });
});
