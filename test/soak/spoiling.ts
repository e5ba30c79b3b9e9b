import type { HistoryRewrite } from '../../src/simulator';
import type { Dice } from './dice';

/** Spoils answers of a history, without taking an upload out of it. */
export interface Spoiling {
  /** Answers that had something wrong in them so far. */
  readonly count: number;
  rewrite: HistoryRewrite;
}

const LONG_ID = '9'.repeat(40);

/** Records that can stand for no upload; the first is older than any upload. */
const BAD: readonly unknown[] = [
  { id: 0, body: null },
  { id: null, body: 'x' },
  { id: LONG_ID, body: 'x' },
  { id: '5f3a9c', body: 'x' },
  { id: -1, body: 'x' },
  { body: 'x' },
  { id: 0, body: 5 },
  { id: 0 },
  null,
  5,
  'a record',
  [],
];
const MOST = 3;

/** A record once more, whole or with a body that cannot be read. */
function again(record: object, dice: Dice): object {
  return dice.pick([record, { ...record, body: null }, { ...record, body: 5 }]);
}

/**
 * Puts bad records and records a second time into every third answer, and now and then turns it round.
 * What stands there a second time has no id of its own, so that each upload still is one record.
 */
export function createSpoiling(dice: Dice): Spoiling {
  const put = (records: unknown[], record: unknown): void =>
    void records.splice(dice.roll(records.length + 1), 0, record);
  const spoiling = {
    count: 0,
    rewrite(records: readonly object[]): unknown {
      if (dice.roll(3) > 0) return records;
      spoiling.count++;
      const spoilt: unknown[] = [...records];
      for (let times = 1 + dice.roll(MOST); times > 0; times--) put(spoilt, dice.pick(BAD));
      for (let times = dice.roll(MOST); times > 0 && records.length > 0; times--) {
        put(spoilt, again(dice.pick(records), dice));
      }
      return dice.roll(4) === 0 ? spoilt.reverse() : spoilt;
    },
  };
  return spoiling;
}
