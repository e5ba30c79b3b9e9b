import assert from 'node:assert/strict';
import { HistoryFacts } from '../../../src/recovery/facts';
import { parseZone, timeOf, unixOf, zoneText } from '../../../src/recovery/zone';
import { connected, record } from './subject';

const HOUR = 60 * 60_000;

describe('the time zone of a history', () => {
  it('is written as an offset', () => {
    for (const text of ['+08:00', '-03:30', '+00:00', '+14:00']) {
      assert.equal(zoneText(parseZone(text)!), text);
    }
    assert.equal(parseZone('+08:00'), 8 * HOUR);
    for (const text of ['', '8', '+8:00', '+08:60', '+15:00', 'Asia/Shanghai', '+08:00 '])
      assert.equal(parseZone(text), undefined, text);
  });

  it('is learned from several uploads that came both ways, and is +08:00 until then', async () => {
    const facts = new HistoryFacts();
    const subject = await connected([], { zone: 'auto' }, { facts });
    const missed = (id: number) => record(id, 'missed', '2026-01-01 08:00:00');
    await subject.reads(missed(1));
    const records = [missed(1)];
    for (let hour = 1; hour <= 4; hour++) {
      // The clock of the device is 3 s ahead, and once a day behind.
      subject.live(`live ${hour}`, Date.UTC(2026, 0, 1, hour));
      const day = hour === 2 ? '2025-12-31' : '2026-01-01';
      records.push(record(hour + 1, `live ${hour}`, `${day} 0${hour}:00:03`));
      await subject.reads(...records);
      assert.equal(facts.zone, hour < 4 ? undefined : 0);
    }
    await subject.reads(...records, record(6, 'missed', '2026-01-01 08:00:00'));
    const times = subject.uploads.filter(({ replayed }) => replayed).map((each) => each.timestamp);
    assert.deepEqual(times, [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1, 8)]);
    assert.deepEqual(facts.learned, { zone: 0 });
  });

  it('is learned from one reading, before what it has is given back', async () => {
    const subject = await connected([], { zone: 'auto' });
    const at = (hour: number): string => `2026-01-01 0${hour}:00:00`;
    const live = [1, 2, 3];
    for (const hour of live) subject.live(`${hour},a`, Date.UTC(2026, 0, 1, hour));
    await subject.reads(...live.map((hour) => record(hour, 'a', at(hour))), record(4, 'b', at(4)));
    assert.equal(subject.uploads.at(-1)?.timestamp, Date.UTC(2026, 0, 1, 4));
  });

  it('is not learned from uploads that are equal to a missed one', async () => {
    const facts = new HistoryFacts();
    const subject = await connected([], { zone: 'auto' }, { facts });
    const hours = [1, 2, 3, 4, 5];
    // The first was missed, and so each seems to be an hour older than it is.
    for (const hour of hours.slice(1)) subject.live('on', Date.UTC(2026, 0, 1, hour));
    await subject.reads(...hours.map((hour) => record(hour, 'on', `2026-01-01 0${hour}:00:00`)));
    assert.equal(subject.given.length, 5);
    assert.equal(facts.zone, undefined);
  });

  it('stays as it is while one device disagrees, and changes once two do', () => {
    const facts = new HistoryFacts();
    facts.restore({ zone: 8 * HOUR });
    const live = Date.UTC(2026, 0, 1);
    const saw = (chipid: string, hours: number): void =>
      facts.sawTime(chipid, live, live + hours * HOUR);
    saw('1', 8);
    for (let times = 0; times < 9; times++) saw('2', 3);
    assert.equal(facts.zone, 8 * HOUR);
    saw('1', 9);
    saw('2', 9);
    saw('1', 9);
    assert.equal(facts.zone, 9 * HOUR);
  });

  it('is used as it is set, whatever uploads that came both ways show', async () => {
    const facts = new HistoryFacts();
    const subject = await connected([], { zone: '+08:00' }, { facts });
    const records: object[] = [];
    for (let hour = 1; hour <= 5; hour++) {
      subject.live(`live ${hour}`, Date.UTC(2026, 0, 1, hour));
      records.push(record(hour, `live ${hour}`, `2026-01-01 0${hour}:00:03`));
      await subject.reads(...records);
    }
    await subject.reads(...records, record(6, 'missed', '2026-01-01 08:00:00'));
    assert.equal(subject.uploads.at(-1)?.timestamp, Date.UTC(2026, 0, 1));
    assert.deepEqual(subject.faults, []);
  });
});

describe('the time of a record', () => {
  it('is read by its zone', () => {
    for (const text of ['2026-02-28 23:59:59', '2024-02-29 00:00:00', '1999-12-31 12:34:56']) {
      const time = Date.parse(`${text.replace(' ', 'T')}Z`);
      assert.equal(timeOf(text), time);
      assert.equal(unixOf(text, '+01:00'), time - 3_600_000);
    }
  });

  it('is unknown if it is empty or invalid', () => {
    for (const text of [
      '',
      '2026-13-01 00:00:00',
      '2026-00-01 00:00:00',
      '2026-01-32 00:00:00',
      '2026-01-00 00:00:00',
      '2026-01-01 24:00:00',
      '2026-01-01 00:60:00',
      '2026-01-01 00:00:60',
    ])
      assert.deepEqual([timeOf(text), unixOf(text, 'Z')], [NaN, undefined], text);
    assert.equal(unixOf('2026-02-30 00:00:00', 'Z'), undefined);
  });
});
