import assert from 'node:assert/strict';
import { Bounded } from '../../../src/simulator/log';

const MIB = 1024 * 1024;

describe('simulator: a list that keeps its last items', () => {
  it('keeps the newest up to its limit', () => {
    const list = new Bounded<number>(3);
    for (let item = 1; item <= 5; item++) list.add(item);
    assert.deepEqual(list.items, [3, 4, 5]);
  });

  it('keeps 64 MiB, and the newest item however large it is', () => {
    const list = new Bounded<number>(1000, (size) => size);
    for (const size of [30, 20, 20, 1]) list.add(size * MIB);
    assert.deepEqual(list.items, [20 * MIB, 20 * MIB, MIB]);
    list.add(100 * MIB);
    assert.deepEqual(list.items, [100 * MIB]);
    list.add(MIB);
    assert.deepEqual(list.items, [MIB]);
  });

  it('no longer counts the size of removed items', () => {
    const list = new Bounded<number>(1000, (size) => size);
    for (const size of [1, 30, 30]) list.add(size * MIB);
    list.cut((size) => size > MIB);
    list.cut((size) => size > MIB);
    for (const size of [30, 30]) list.add(size * MIB);
    assert.deepEqual(list.items, [MIB, 30 * MIB, 30 * MIB]);
  });
});
