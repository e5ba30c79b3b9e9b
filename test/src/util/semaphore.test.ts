import assert from 'node:assert/strict';
import { Semaphore } from '../../../src/util/semaphore';
import { held } from '../support/garbage';
import { settled } from '../../tooling/until';

/** A caller that waits for a place. */
class Caller {
  hasPlace = false;
  readonly leave: (() => void) | undefined = undefined;

  constructor(semaphore: Semaphore) {
    this.hasPlace = semaphore.acquire();
    if (!this.hasPlace) this.leave = semaphore.wait(() => (this.hasPlace = true));
  }
}

describe('a semaphore', () => {
  it('grants its places at once, and further ones in the order of arrival', () => {
    const semaphore = new Semaphore(2);
    const callers = Array.from({ length: 4 }, () => new Caller(semaphore));
    const served = (): boolean[] => callers.map(({ hasPlace }) => hasPlace);
    assert.deepEqual(served(), [true, true, false, false]);
    semaphore.release();
    assert.deepEqual(served(), [true, true, true, false]);
    semaphore.release();
    assert.deepEqual(served(), [true, true, true, true]);
  });

  it('keeps the order of the others when some give up, from any place, and loses no place to them', () => {
    const semaphore = new Semaphore(1);
    assert.ok(new Caller(semaphore).hasPlace);
    const callers = Array.from({ length: 8 }, () => new Caller(semaphore));
    const gone = [0, 3, 4, 7];
    for (const index of gone) callers[index]?.leave?.();
    for (const index of [1, 2, 5, 6]) {
      semaphore.release();
      assert.equal(
        callers.findLastIndex(({ hasPlace }) => hasPlace),
        index,
      );
    }
    semaphore.release();
    assert.ok(!gone.some((index) => callers[index]?.hasPlace));
    assert.ok(new Caller(semaphore).hasPlace, 'nobody waits any more');
  });

  it('runs work in the places, also if it fails, and tells when none runs any more', async () => {
    let idle = 0;
    const semaphore = new Semaphore(1, () => idle++);
    const done: string[] = [];
    const fails = semaphore.run(() => Promise.reject(new Error('no')));
    const later = semaphore.run(async () => {
      await settled();
      done.push('later');
    });
    await assert.rejects(fails, { message: 'no' });
    assert.deepEqual([semaphore.isBusy, done, idle], [true, [], 0]);
    await later;
    assert.deepEqual([semaphore.isBusy, done, idle], [false, ['later'], 1]);
  });

  it('forgets who has had a place, even while one always waits, and who has given up', async () => {
    const semaphore = new Semaphore(1);
    const callers: WeakRef<Caller>[] = [];
    const call = (): Caller => {
      const caller = new Caller(semaphore);
      callers.push(new WeakRef(caller));
      return caller;
    };
    assert.ok(new Caller(semaphore).hasPlace);
    call();
    for (let count = 0; count < 1000; count++) {
      call();
      call().leave?.();
      semaphore.release();
    }
    const kept = await held(callers);
    assert.ok(kept < 20, `${kept} of ${callers.length} callers are kept`);
  });
});
