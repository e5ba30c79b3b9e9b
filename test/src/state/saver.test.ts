import assert from 'node:assert/strict';
import { Saver } from '../../../src/state/saver';
import { settled } from '../../../tooling/until';
import { pass, useClock } from '../../support/clock';

const unexpected = (error: unknown): void => assert.ifError(error);

/** A store of which only the writes count. */
const storeOf = (write: (value: object) => Promise<void>) => ({
  read: () => Promise.resolve(undefined),
  write,
  remove: () => Promise.resolve(),
});

describe('a value that changes often', () => {
  useClock();

  const written: object[] = [];
  const store = storeOf((value) => Promise.resolve(void written.push(value)));
  beforeEach(() => (written.length = 0));

  it('is written once for simultaneous changes, at most once a second, and when it is closed', async () => {
    let state = 0;
    const saver = new Saver(store, () => ({ state }), unexpected);
    const change = async (): Promise<void> => {
      state++;
      saver.changed();
      await pass(0);
    };
    for (; state < 5000; state++) saver.changed();
    await pass(0);
    assert.deepEqual(written, [{ state: 5000 }]);
    await change();
    assert.equal(written.length, 1);
    await pass(1000);
    assert.deepEqual(written.at(-1), { state: 5001 });
    await pass(1000);
    await pass(60_000);
    assert.equal(written.length, 2);
    await change();
    await change();
    await saver.close();
    assert.deepEqual(written.slice(2), [{ state: 5002 }, { state: 5003 }]);
  });

  it('is written without a change of the last turn that nobody has received', async () => {
    let state = 1;
    const saver = new Saver(store, () => ({ state }), unexpected);
    saver.changed(false);
    await pass(0);
    state++;
    saver.changed(false);
    await saver.close();
    await settled();
    assert.deepEqual(written, [{ state: 1 }]);
  });

  it('is written at once for whoever waits for that', async () => {
    let state = 0;
    const saver = new Saver(store, () => ({ state }), unexpected);
    saver.changed();
    await pass(0);
    state = 1;
    const flushed = [saver.flush(), saver.flush()];
    await pass(0);
    await Promise.all(flushed);
    assert.deepEqual(written, [{ state: 0 }, { state: 1 }]);
    await saver.close();
  });

  it('that cannot be written is reported once, and written as soon as it can be', async () => {
    const failures: unknown[] = [];
    let isBroken = true;
    const broken = storeOf((value) =>
      isBroken ? Promise.reject(new Error('full')) : Promise.resolve(void written.push(value)),
    );
    const saver = new Saver(
      broken,
      () => ({}),
      (error) => failures.push(error),
    );
    const flushed = saver.flush();
    await pass(0);
    await flushed;
    await pass(5000);
    assert.equal(failures.length, 1);
    isBroken = false;
    await pass(5000);
    assert.equal(written.length, 1);
    isBroken = true;
    await pass(1000);
    saver.changed();
    await pass(0);
    assert.equal(failures.length, 2);
    await saver.close();
  });

  it('does not hold up a close if the store never answers', async () => {
    const saver = new Saver(
      storeOf(() => new Promise(() => undefined)),
      () => ({}),
      unexpected,
    );
    saver.changed();
    await pass(0);
    const closing = saver.close();
    await pass(3000);
    await closing;
  });
});
