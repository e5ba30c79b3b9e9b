import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inShard, readShard } from '../../../src/input/chipid';
import { partitionOf, slotOf } from '../../../src/cluster/slots';
import { holds } from '../support/fuzz';

const numbers = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(862_000_000_000_000 + index));

/** How many of the values fall on each number. */
function tally(values: readonly number[], count: number): number[] {
  const tallied = new Array<number>(count).fill(0);
  for (const value of values) tallied[value]!++;
  return tallied;
}

describe('a shard', () => {
  it('is an ordinal from 0 and a count', () => {
    assert.deepEqual(readShard(' 2/3 '), { index: 2, count: 3 });
    assert.deepEqual(readShard('0/1'), { index: 0, count: 1 });
    for (const text of ['', '3/3', '1', '/3', '-1/3', '0/0', '1.5/3', '${ORDINAL}/3', '0/99999'])
      assert.throws(() => readShard(text), { code: 'NOT_CONFIGURED' }, text);
  });

  holds(
    'has each device in exactly one share, and a further share only gains devices',
    200,
    fc.property(fc.nat({ max: 10 ** 9 }), fc.integer({ min: 1, max: 12 }), (number, count) => {
      const shareIn = (of: number): number[] =>
        Array.from({ length: of }, (_, index) => index).filter((index) =>
          inShard(String(number), { index, count: of }),
        );
      const [share, ...more] = shareIn(count);
      assert.deepEqual(more, []);
      const [next] = shareIn(count + 1);
      assert.ok(next === share || next === count);
    }),
  );

  it('contains an even part, also of consecutive numbers', () => {
    const devices = numbers(3000);
    for (let index = 0; index < 3; index++) {
      const part = devices.filter((chipid) => inShard(chipid, { index, count: 3 })).length;
      assert.ok(part > 900 && part < 1100, String(part));
    }
  });
});

describe('the slots', () => {
  it('are the same in every version, since processes of two versions share devices', () => {
    assert.deepEqual(['1', '862000000000001', '18446744073709551615'].map(slotOf), SLOTS_OF_OLD);
  });

  it('contain devices evenly', () => {
    const devices = numbers(256 * 40);
    const slots = tally(devices.map(slotOf), 256);
    assert.ok(Math.min(...slots) > 15 && Math.max(...slots) < 75);
    const partitions = tally(devices.map(partitionOf), 64);
    assert.ok(Math.min(...partitions) > 100 && Math.max(...partitions) < 220);
  });
});

const SLOTS_OF_OLD = [143, 17, 118];
