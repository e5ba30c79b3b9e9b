import assert from 'node:assert/strict';
import type { Account } from '../../../../src/recovery/matching/counted';
import { reconcile } from '../../../../src/recovery/matching/reconcile';
import type { Recorded } from '../../../../src/recovery/records/recorded';

const records = (...keys: string[]): Recorded[] =>
  keys.map((key, index) => ({
    id: BigInt(index),
    key,
    upload: () => ({
      ...{ chipid: '1', appid: '1', timestamp: 0, replayed: true },
      body: Buffer.from(key),
    }),
  }));
const arrived = (...keys: string[]): Account['sure'] =>
  keys.map((key) => ({ key, timestamp: 0, held: undefined, late: false }));
const due = (history: Recorded[], account: Partial<Account>): string[] => {
  const nothing = {
    skip: 0,
    last: undefined,
    sure: [],
    open: [],
    truncated: false,
    broken: false,
  };
  return reconcile(history, { ...nothing, ...account }).due.map((each) =>
    each.upload().body.toString(),
  );
};

describe('arrivals compared with the history', () => {
  it('leave what was missed, with equal uploads counted', () => {
    assert.deepEqual(due(records('a', 'a', 'b'), { sure: arrived('a') }), ['a', 'b']);
  });

  it('do not hide an equal one that was missed once they are no longer in the history', () => {
    const account = { sure: arrived('a', 'b'), truncated: true };
    assert.deepEqual(due(records('b', 'a'), account), ['a']);
  });

  it('may be more than the history keeps', () => {
    const account = { open: arrived('a', 'b', 'c', 'd'), truncated: true };
    assert.deepEqual(due(records('b', 'c'), account), []);
  });

  it('follow those that an earlier run has emitted', () => {
    assert.deepEqual(due(records('a', 'b', 'c'), { skip: 2 }), ['c']);
    const account = { skip: 2, last: 'b', truncated: true };
    assert.deepEqual(due(records('b', 'c', 'd'), account), ['c', 'd']);
    assert.deepEqual(due(records('c', 'd'), account), ['c', 'd']);
  });

  it('follow the last of those if the history lagged behind or has unusable records', () => {
    assert.deepEqual(due(records('missed', 'a', 'b', 'c'), { skip: 2, last: 'b' }), [
      'missed',
      'c',
    ]);
    assert.deepEqual(due(records('b', 'c'), { skip: 2, last: 'b' }), ['c']);
    assert.deepEqual(due(records('b', 'a', 'c'), { skip: 2, last: 'x' }), ['c']);
  });
});
