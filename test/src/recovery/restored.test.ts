import assert from 'node:assert/strict';
import fc from 'fast-check';
import { holds } from '../support/fuzz';
import { createSubject, record } from './subject';

/** A record with the time of its place, a few in each second. */
const at = (id: number, body: string, place: number): object =>
  record(
    id,
    body,
    new Date(Date.UTC(2026, 0, 1) + Math.floor(place / 3) * 1000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' '),
  );

const size = fc.integer({ min: 1, max: 60 });
const share = fc.double({ min: 0, max: 1, noNaN: true });
// Few different bodies, so that equal readings are the rule.
const bodiesOf = (count: number): fc.Arbitrary<string[]> =>
  fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: count, maxLength: count });

/** How many records of the old history its copy has, what comes then, and how many are shown. */
const HISTORY = size.chain((count) =>
  fc.record({
    old: bodiesOf(count),
    kept: share.map((part) => Math.floor(part * count)),
    missed: size.chain(bodiesOf),
    window: fc.constantFrom(Infinity, 20),
  }),
);

describe('a history that is set back to an older copy', () => {
  holds(
    'causes nothing to be repeated while it is behind, nor when it has caught up',
    300,
    fc.asyncProperty(HISTORY, async ({ old, kept, missed, window }) => {
      const subject = createSubject();
      const records = old.map((body, index) => at(index + 1, body, index));
      subject.has(...records.slice(-window));
      await subject.connect();
      subject.has(...records.slice(0, kept).slice(-window));
      await subject.connect();
      subject.has(...records.slice(-window));
      await subject.connect();
      assert.equal(subject.given.length, 0);
      const more = missed.slice(0, 15);
      const all = [
        ...records,
        ...more.map((body, index) => at(old.length + 1 + index, body, 600 + index)),
      ];
      subject.has(...all.slice(-window));
      await subject.connect();
      assert.deepEqual(
        subject.given.map(([body]) => body),
        more,
      );
    }),
  );

  holds(
    'has all later uploads recovered once, under ids that were used before',
    300,
    fc.asyncProperty(HISTORY, async ({ old, kept, missed }) => {
      const subject = createSubject();
      const records = old.map((body, index) => at(index + 1, body, index));
      subject.has(...records);
      await subject.connect();
      // A minute later, when it has been restored.
      const anew = missed.map((body, index) => at(kept + 1 + index, body, 600 + index));
      subject.has(...records.slice(0, kept), ...anew);
      await subject.connect();
      await subject.connect();
      assert.deepEqual(
        subject.given,
        missed.map((body, index) => [body, kept + 1 + index]),
      );
    }),
  );
});
