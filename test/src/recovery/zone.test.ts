import assert from 'node:assert/strict';
import { HistoryFacts } from '../../../src/recovery/facts';
import { parseZone, zoneText } from '../../../src/recovery/zone';
import { createSubject, record } from './subject';

const HOUR = 60 * 60_000;

describe('the time zone of a history', () => {
  it('is an offset', () => {
    for (const text of ['+08:00', '-03:30', '+00:00', '+14:00']) {
      assert.equal(zoneText(parseZone(text)!), text);
    }
    assert.equal(parseZone('+08:00'), 8 * HOUR);
    for (const text of ['', '8', '+8:00', '+08:60', '+15:00', 'Asia/Shanghai', '+08:00 '])
      assert.equal(parseZone(text), undefined, text);
  });

  it('is what is set, until an upload that came both ways shows another; that is said once', async () => {
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
