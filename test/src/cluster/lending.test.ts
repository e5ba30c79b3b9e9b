import assert from 'node:assert/strict';
import { Lending, type Lent } from '../../../src/cluster/lending';
import { Store, MEMORY } from '../../../src/store/store';

const PREFIX = 'mark:a:';

/** A process that keeps entries, and others that borrow them from whoever keeps them at the moment. */
class Keeper {
  readonly store = new Store(MEMORY);
  readonly lending: Lending;

  constructor(current: () => Keeper) {
    const callAtOnce = async (name: string, _: string, args: unknown): Promise<unknown> => {
      const { lending } = current();
      const all = args as [string, [string, unknown][]];
      return name === 'lend' ? lending.lend(all[0]) : lending.takeBack(...all);
    };
    this.lending = new Lending(this.store, () => ({ callAtOnce }));
  }
}

/** Whether a promise has been settled after all that can happen by itself. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe('entries of the whole application', () => {
  it('are lent to one at a time, with what the one before has changed', async () => {
    const keeper: Keeper = new Keeper(() => keeper);
    const first = await keeper.lending.borrow(PREFIX);
    const next = keeper.lending.borrow(PREFIX);
    assert.equal(await isSettled(next), false);
    first.update(`${PREFIX}1`, 'changed');
    await first.giveBack();
    assert.deepEqual((await next).list(PREFIX), [[`${PREFIX}1`, 'changed']]);
  });

  it('are not taken back from one that has borrowed them from another process', async () => {
    let current: Keeper;
    const before = new Keeper(() => current);
    current = before;
    const late: Lent = await before.lending.borrow(PREFIX);
    current = new Keeper(() => current);
    const borrowed = await current.lending.borrow(PREFIX);
    const next = current.lending.borrow(PREFIX);
    late.update(`${PREFIX}1`, 'late');
    await late.giveBack();
    assert.equal(await isSettled(next), false);
    await borrowed.giveBack();
    assert.deepEqual((await next).list(PREFIX), []);
  });
});
