import assert from 'node:assert/strict';
import { parseDay, parsePeriod } from '../../../src/protocol/day';
import { inTimeZone } from '../../tooling/time-zone';
import { thrown } from '../support/failure';

/** Noon here is the same day in Beijing or the next one, so that it begins a period on this one. */
const noon = new Date(2026, 1, 28, 12);

describe('a day of the synchronisation', () => {
  const good: [what: string, value: unknown][] = [
    ['YYYYMMDD as a number', 20260228],
    ['a Date', noon],
    ['milliseconds since 1970', noon.getTime()],
    ['an ISO date', '2026-02-28'],
    ['an ISO time of this time zone', '2026-02-28T12:00'],
  ];
  for (const [what, value] of good) {
    it(`can be ${what}`, () => assert.equal(parseDay(value, 'begin'), '20260228'));
  }

  it('may be the 29th of February of a leap year', () => {
    assert.equal(parseDay('20240229', 'begin'), '20240229');
  });

  /** What a point in time gives as begin and as end, on a machine of a time zone. */
  const inZone = (name: string, iso: string): string[] =>
    inTimeZone(name, () => {
      const date = new Date(iso);
      return [date, date.getTime(), iso].flatMap((each) => parsePeriod(each, each));
    });

  const points: [zone: string, iso: string, begin: string, end: string][] = [
    ['Asia/Shanghai', '2026-12-31T15:59:59.999Z', '20261231', '20261231'],
    ['Asia/Shanghai', '2026-12-31T16:00:00.000Z', '20270101', '20270101'],
    ['UTC', '2026-12-31T16:00:00.000Z', '20261231', '20270101'],
    ['America/New_York', '2027-01-01T04:59:59.999Z', '20261231', '20270101'],
    ['America/New_York', '2027-01-01T05:00:00.000Z', '20270101', '20270101'],
    ['Pacific/Kiritimati', '2026-12-31T10:00:00.000Z', '20261231', '20270101'],
  ];
  for (const [zone, iso, begin, end] of points) {
    it(`of ${iso} in ${zone} is ${begin} as the first one and ${end} as the last`, () => {
      assert.deepEqual(inZone(zone, iso), [begin, end, begin, end, begin, end]);
    });
  }

  const bad: [what: string, value: unknown][] = [
    ['the 30th of February', '20260230'],
    ['the 30th of February as a number', 20260230],
    ['the 29th of February without a leap year', '2026-02-29'],
    ['an hour too many', '2026-02-28T25:00'],
    ['nine digits', '202602281'],
    ['a line end', '20260228\n'],
    ['a way up the path', '../../apps'],
    ['empty', ''],
    ['NaN', NaN],
    ['beyond all dates', 1e20],
    ['an invalid Date', new Date(NaN)],
    ['a year of five digits', new Date(Date.UTC(12026, 0, 2))],
    ['null', null],
    ['undefined', undefined],
    ['an object', {}],
  ];
  for (const [what, value] of bad) {
    it(`cannot be ${what}`, () => {
      assert.match(thrown(() => parseDay(value, 'begin'), 'INVALID_INPUT').message, /begin date/);
    });
  }
});

describe('a period', () => {
  it('may be one day', () => {
    assert.deepEqual(parsePeriod(noon, '20260228'), ['20260228', '20260228']);
  });

  it('ends after it begins', () => {
    const { message } = thrown(() => parsePeriod('20260301', '20260228'), 'INVALID_INPUT');
    assert.match(message, /20260228 is before the begin date 20260301/);
  });

  it('needs both days', () => {
    assert.match(thrown(() => parsePeriod('20260301', ''), 'INVALID_INPUT').message, /end date/);
  });
});
