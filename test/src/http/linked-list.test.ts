import assert from 'node:assert/strict';
import { LinkedList, type Linked } from '../../../src/http/deadline';

class Item implements Linked<Item> {
  previous: Item | undefined = undefined;
  next: Item | undefined = undefined;

  constructor(readonly name: string) {}
}

describe('a linked list', () => {
  const [a, b, c] = [new Item('a'), new Item('b'), new Item('c')];
  const names = (list: LinkedList<Item>): string =>
    list
      .all()
      .map(({ name }) => name)
      .join('');

  it('keeps its order whichever item is removed, and takes it again at the end', () => {
    for (const [removed, left] of [
      [a, 'bc'],
      [b, 'ac'],
      [c, 'ab'],
    ] as const) {
      const list = new LinkedList<Item>();
      for (const item of [a, b, c]) list.add(item);
      assert.equal(list.remove(removed), true);
      assert.equal(list.remove(removed), false);
      assert.equal(names(list), left);
      list.add(removed);
      assert.equal(names(list), left + removed.name);
      for (const item of list.all()) list.remove(item);
      assert.deepEqual([names(list), list.size], ['', 0]);
    }
  });
});
