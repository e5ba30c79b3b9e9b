import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseDay, parsePeriod } from '../../../src/input/day';
import { inTimeZone } from '../../../tooling/time-zone';
import { anyText, holds, textOf } from '../support/fuzz';
import { anything, reading } from '../support/typed';

const two = (part: number): string => String(part).padStart(2, '0');

interface Parts {
  year: number;
  month: number;
  day: number;
}

/** Days as a calendar has them, and some that it does not. */
const parts: fc.Arbitrary<Parts> = fc.record({
  year: fc.integer({ min: 1000, max: 9999 }),
  month: fc.integer({ min: 0, max: 13 }),
  day: fc.integer({ min: 0, max: 32 }),
});

/** By the rules for leap years, without a Date. */
function exists({ year, month, day }: Parts): boolean {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const lengths = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day >= 1 && day <= (lengths[month - 1] ?? 0);
}

const compact = ({ year, month, day }: Parts): string => `${year}${two(month)}${two(day)}`;
const dashed = ({ year, month, day }: Parts): string => `${year}-${two(month)}-${two(day)}`;
const moment = fc.date({
  min: new Date(1000, 0, 2),
  max: new Date(9999, 11, 30),
  noInvalidDate: true,
});

const numeral = textOf('0123456789-T:Z+. ', { maxLength: 14 });
const partsOf = (text: string): Parts => ({
  year: Number(text.slice(0, 4)),
  month: Number(text.slice(4, 6)),
  day: Number(text.slice(6)),
});

describe('a day, read from any value', () => {
  holds(
    'is a day of the calendar, as text, number and ISO text',
    1000,
    fc.property(parts, (each) => {
      const expected = exists(each) ? { value: compact(each) } : undefined;
      assert.deepEqual(
        reading(() => parseDay(compact(each), 'begin')),
        expected,
      );
      assert.deepEqual(
        reading(() => parseDay(Number(compact(each)), 'begin')),
        expected,
      );
      assert.deepEqual(
        reading(() => parseDay(dashed(each), 'begin')),
        expected,
      );
    }),
  );

  const zone = fc.constantFrom('UTC', 'Asia/Shanghai', 'America/New_York', 'Pacific/Kiritimati');
  const localDay = (date: Date): string =>
    compact({ year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate() });

  holds(
    'is the earlier or the later day of here and Beijing for any point in time',
    500,
    fc.property(moment, zone, (date, name) => {
      // The first is eight hours ahead of UTC, in every year.
      const days = ['Etc/GMT-8', name].map((each) => inTimeZone(each, () => localDay(date))).sort();
      inTimeZone(name, () => {
        assert.deepEqual(parsePeriod(date, date), days);
        assert.deepEqual(parsePeriod(date.toISOString(), date.toISOString()), days);
        // Eight digits would be meant as a day.
        const ms = date.getTime();
        if (String(ms).length !== 8) assert.deepEqual(parsePeriod(ms, ms), days);
      });
    }),
  );

  holds(
    'is eight digits of a day that exists, or is refused',
    1000,
    fc.property(fc.oneof(anything, anyText, numeral), (value) => {
      const read = reading(() => parseDay(value, 'begin'));
      if (!read) return;
      assert.match(read.value, /^[0-9]{8}$/);
      assert.ok(exists(partsOf(read.value)), read.value);
      assert.equal(parseDay(read.value, 'begin'), read.value);
    }),
  );

  holds(
    'is accepted as the begin and the end of a period in this order only',
    300,
    fc.property(moment, moment, (one, other) => {
      const [early, late] = one <= other ? [one, other] : [other, one];
      const period = [parseDay(early, 'begin'), parseDay(late, 'end')];
      assert.deepEqual(parsePeriod(early, late), period);
      const back = reading(() => parsePeriod(late, early));
      assert.equal(back !== undefined, parseDay(late, 'begin') <= parseDay(early, 'end'));
    }),
  );
});
