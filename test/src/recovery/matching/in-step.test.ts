import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Arrived } from '../../../../src/recovery/matching/arrivals';
import { lookForEach, shownBy } from '../../../../src/recovery/matching/encoding';
import { liveKeys } from '../../../../src/recovery/records/keys';
import { Ledger } from '../../../../src/recovery/matching/ledger';
import {
  HistoryRecord,
  type HistoryForm,
  type Recorded,
} from '../../../../src/recovery/records/recorded';
import { reconcileCounted, type Account } from '../../../../src/recovery/matching/counted';
import { reconcile } from '../../../../src/recovery/matching/reconcile';
import { holds } from '../../support/fuzz';

/** Few different keys, so that equal ones are the rule; and now and then none. */
const KEY = fc.constantFrom('a', 'b', 'c');
const KEYS = fc.array(KEY, { maxLength: 5 });
const READ = fc.oneof(
  { weight: 9, arbitrary: KEY },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

const upload = (key: string | undefined, timestamp: number) => ({
  ...{ chipid: '1', appid: '1', timestamp },
  body: Buffer.from(key ?? ''),
});

const arrived = (keys: readonly string[], held: readonly boolean[], from: number): Arrived[] =>
  keys.map((key, index) => ({
    ...{ key, timestamp: from + index, late: false },
    held: held[index] ? upload(key, from + index) : undefined,
  }));

/** A change to one place of a list, which leaves most as they were. */
const CHANGE = fc.record({
  at: fc.nat(9),
  remove: fc.nat(1),
  insert: fc.array(READ, { maxLength: 1 }),
});

/** Arrivals, and records that are all of them, or nearly. */
const CASE = fc
  .record({
    sure: KEYS,
    open: KEYS,
    tail: fc.nat(5),
    held: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
    changes: fc.array(CHANGE, { maxLength: 2 }),
    skip: fc.constantFrom(0, 0, 0, 1, 2),
    last: fc.constantFrom(undefined, 'a'),
    truncated: fc.constantFrom(false, false, false, true),
    broken: fc.constantFrom(false, false, false, true),
  })
  .map(({ sure, open, tail, held, changes, skip, last, truncated, broken }) => {
    const keys: (string | undefined)[] = [...sure, ...open.slice(0, tail)];
    for (const { at, remove, insert } of changes) keys.splice(at, remove, ...insert);
    const records = keys.map((key, index): Recorded => {
      const made = { ...upload(key, 1000 + index), replayed: true as const };
      return { id: BigInt(index), key, upload: () => made };
    });
    const account: Account = {
      ...{ skip, last, truncated, broken },
      sure: arrived(sure, held, 0),
      open: arrived(open, held.slice(5), 10),
    };
    return { records, account };
  });

/** Bodies of which one may be Base64 of another, or bytes that are no text. */
const BODY = fc.constantFrom('te', 'test', 'dGVzdA==', 'b', '/w==', '\ufffd');
const LIVE = fc.oneof(
  BODY.map((text) => Buffer.from(text)),
  fc.constantFrom(Buffer.of(0xff), Buffer.of(0xb5, 0xeb, 0x2d)),
);
const FORM: HistoryForm = {
  ...{ appid: '1', chipid: '1', encoding: 'text', certain: false, zone: 0, now: 0, latest: '9' },
};

/** Arrivals, perhaps some of an earlier run, and the records after the position. */
const BOTH_WAYS = fc
  .tuple(
    fc.array(LIVE, { maxLength: 4 }),
    fc.array(BODY, { maxLength: 4 }),
    fc.nat(4),
    fc.boolean(),
  )
  .map(([live, others, both, isSaved]) => {
    const ledger = new Ledger(isSaved ? { id: '0', live: 1, last: 'test' } : { id: '0', live: 0 });
    for (const each of live) {
      const { text, bytes } = liveKeys(each);
      ledger.add(text, 0, undefined, bytes);
    }
    const bodies = [...live.slice(0, both).map((each) => each.toString()), ...others];
    const record = (body: string, index: number): HistoryRecord =>
      new HistoryRecord(
        BigInt(index),
        { id: index, body, create_time: '', dev: '1', app: '' },
        FORM,
      );
    return { ledger, records: bodies.map(record) };
  });

describe('arrivals of which nothing was missed', () => {
  let alike = 0;

  holds(
    'are matched in step as they are when they are counted',
    5000,
    fc.property(CASE, ({ records, account }) => {
      const shown = (made: ReturnType<typeof reconcile>): unknown => ({
        ...made,
        due: made.due.map((each) => each.upload()),
      });
      const counted = reconcileCounted(records, account);
      assert.deepEqual(shown(reconcile(records, account)), shown(counted));
      if (counted.missed.length === 0 && counted.unfound.length === 0) alike++;
    }),
  );

  holds(
    'show the encoding of the history as they do when each is searched for',
    5000,
    fc.property(BOTH_WAYS, ({ ledger, records }) => {
      assert.deepEqual(shownBy(records, ledger), lookForEach(records, ledger));
    }),
  );

  it('occur in more than 500 of the cases', () => assert.ok(alike > 500, String(alike)));
});
