import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HistoryFacts } from '../../../../src/recovery/records/facts';
import { parseZone, toUnix, zoneText } from '../../../../src/recovery/records/zone';
import { holds } from '../../support/fuzz';
import { createSubject, record } from '../subject';

const HOUR = 60 * 60_000;

const part = (max: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, '0'));

/** Times as the history writes them, among them those that no clock shows. */
const time = fc
  .tuple(
    fc.constantFrom('00', '19', '20', '99'),
    part(99),
    part(13),
    part(32),
    part(25),
    part(61),
    part(61),
  )
  .map(
    ([a, b, month, day, hour, minute, second]) =>
      `${a}${b}-${month}-${day} ${hour}:${minute}:${second}`,
  );

describe('the time zone of a history', () => {
  it('is written as an offset', () => {
    for (const text of ['+08:00', '-03:30', '+00:00', '+14:00']) {
      assert.equal(zoneText(parseZone(text)!), text);
    }
    assert.equal(parseZone('+08:00'), 8 * HOUR);
    for (const text of ['', '8', '+8:00', '+08:60', '+15:00', 'Asia/Shanghai', '+08:00 '])
      assert.equal(parseZone(text), undefined, text);
  });

  holds(
    'gives times the same value as Date.parse',
    1000,
    fc.property(
      time,
      fc.constantFrom(' ', 'T'),
      fc.constantFrom('', '.5', 'x'),
      (text, between, more) => {
        const written = text.replace(' ', between) + more;
        assert.equal(toUnix(written, HOUR), Date.parse(`${text.replace(' ', 'T')}${more}Z`) - HOUR);
      },
    ),
  );

  it('is the configured one until an upload that came both ways shows another, which is reported once', async () => {
    const facts = new HistoryFacts();
    const subject = createSubject({ zone: 8 * HOUR }, { facts });
    await subject.connect();
    subject.has(record(1, 'missed', '2026-01-01 08:00:00'));
    await subject.connect();
    const noon = Date.UTC(2026, 0, 1, 12);
    subject.live('live', noon);
    subject.has(
      record(2, 'live', '2026-01-01 12:00:03'),
      record(3, 'missed', '2026-01-01 12:00:05'),
    );
    await subject.connect();
    const times = subject.uploads.map(({ timestamp }) => timestamp);
    assert.deepEqual(times, [Date.UTC(2026, 0, 1), noon, noon + 5000]);
    const zones = subject.faults.filter(({ kind }) => kind === 'wrong zone');
    assert.equal(zones.length, 1);
    assert.match(zones[0]!.text, /set to \+08:00.* show \+00:00/);
    await createSubject({ zone: 8 * HOUR }, { facts }).connect();
  });
});
