import assert from 'node:assert/strict';
import { Arrival } from '../../../src/recovery/arrival';
import { WRITINGS, type Writing } from '../../../src/recovery/writing';
import { keptOf } from './history';
import { connected, createSubject, record } from './subject';
import { pass, useClock } from '../../support/clock';

describe('recovery from a history with invalid records', () => {
  const BAD: [what: string, ...records: unknown[]][] = [
    ['a record that is null', null],
    ['a record that is text', 'text'],
    ['a record without an id', record(null, 'x')],
    ['a body that is null', record(2, null)],
    ['a body that is a number', record(2, 5)],
    ['an id of 40 digits', record('9'.repeat(40), 'x')],
    ['a negative id', record(-7, 'x')],
    ['an id that is no integer', record(1.5, 'x')],
    ['an id that is no number', record('5f3a9c', 'x')],
    ['an id that lost digits', record(1e21, 'x')],
    ['a record of another device', { ...record(2, 'x'), dev: '17' }],
  ];
  for (const [what, ...bad] of BAD) {
    it(`skips and reports ${what}, and recovers the rest, then and later`, async () => {
      const subject = await connected([record(1, 'before'), ...bad]);
      await subject.reads(record(1, 'before'), ...bad, record(3, 'missed'));
      await subject.reads(
        record(1, 'before'),
        ...bad,
        record(3, 'missed'),
        record(4, 'missed too'),
      );
      assert.deepEqual(subject.given, [
        ['missed', 3],
        ['missed too', 4],
      ]);
      assert.equal(subject.kinds().length, 1);
      assert.match(subject.faults[0]!.text, /record of the history could not be used/);
    });
  }

  it('accepts ids of up to 20 digits, as text or number', async () => {
    const subject = await connected([record('99999999999999999990', 'before')]);
    await subject.reads(
      record('99999999999999999990', 'before'),
      record('99999999999999999999', 'missed'),
    );
    assert.deepEqual(subject.given, [['missed', '99999999999999999999']]);
    assert.deepEqual(subject.faults, []);
  });
});

describe('recovery from answers that are no history', () => {
  useClock();

  it('takes an answer without a record that can be used for a failed reading', async () => {
    const subject = createSubject();
    const same = '2026-01-01 00:00:01';
    // As of a service that is busy: neither a position, nor ids that have started over.
    const busy = [{ msg: 'busy' }, 5];
    subject.has(...busy);
    await subject.connect();
    subject.has(record(1, 'old', same), record(2, 'older', same));
    await pass(1000);
    assert.deepEqual(subject.given, []);
    subject.has(...busy);
    await subject.connect();
    subject.live('later');
    assert.deepEqual(subject.given, []);
    const all = ['old', 'older', 'missed', 'later'];
    subject.has(...all.map((body, index) => record(index + 1, body, same)));
    await pass(1000);
    assert.deepEqual(subject.given, [
      ['missed', 3],
      ['later', 'live'],
    ]);
    assert.deepEqual(subject.kinds(), ['recovery failed INVALID_RESPONSE ']);
    assert.match(
      subject.faults[0]!.text,
      /No record of the history can be used, since its id is not a number/,
    );
    subject.recovery.close();
  });
});

describe('recovery from a history with odd ids', () => {
  it('emits an id once, however often it occurs', async () => {
    const subject = await connected();
    await subject.reads(record(2, 'b'), record(1, 'a'), record('1', 'a'), record(2, 'b'));
    await subject.connect();
    assert.deepEqual(subject.given, [
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('reports an id that two records have', async () => {
    const subject = await connected();
    await subject.reads(record(1, 'a'), record(1, 'other'));
    assert.deepEqual(subject.given, [['a', 1]]);
    assert.match(subject.faults[0]!.text, /its id is that of another record/);
  });

  it('recovers what was missed when ids begin at 1 again, and reports it', async () => {
    const subject = await connected([record(500, 'before', '2026-01-01 00:00:00')]);
    const after = [1, 2, 3].map((id) => record(id, `missed ${id}`, '2026-01-01 01:00:00'));
    await subject.reads(...after);
    assert.deepEqual(subject.bodies(), ['missed 1', 'missed 2', 'missed 3']);
    assert.match(subject.faults[0]!.text, /ids of the history have started over/);
    await subject.reads(...after, record(4, 'missed 4', '2026-01-01 01:00:00'));
    assert.deepEqual(subject.given.at(-1), ['missed 4', 4]);
    assert.equal(subject.given.length, 4);
  });

  it('recognises by their times the records that a restored service had before', async () => {
    const subject = createSubject();
    const old = [1, 2, 3].map((id) => record(id, `old ${id}`, `2026-01-01 00:00:0${id}`));
    await subject.reads(...old);
    // Set back to the first two; the ids go on past the position before anybody looks.
    const later = [3, 4].map((id) => record(id, `new ${id}`, `2026-01-01 00:01:0${id}`));
    await subject.reads(...old.slice(0, 2), ...later);
    assert.deepEqual(subject.given, [
      ['new 3', 3],
      ['new 4', 4],
    ]);
  });

  it('repeats nothing if the history lags behind, and reports it once', async () => {
    const subject = createSubject();
    const all = [1, 2, 3].map((id) => record(id, `b${id}`, `2026-01-01 00:00:0${id}`));
    await subject.reads(...all);
    await subject.reads(...all.slice(0, 1));
    await subject.reads(...all.slice(0, 2));
    await subject.reads(...all);
    assert.deepEqual(subject.given, []);
    assert.equal(subject.faults.length, 1);
    assert.match(subject.faults[0]!.text, /newest id of the history, 1, is below 3/);
  });

  it('repeats nothing that an earlier run has emitted and the history lacks at first', async () => {
    const keys = Arrival.saveAll([Arrival.of(Buffer.from('emitted'), NaN, true)]);
    assert.doesNotMatch(Buffer.from(keys, 'base64url').toString(), /emitted/);
    const after = await connected([record(1, 'old')], { start: { id: '1', keys } });
    await after.reads(record(1, 'old'), record(2, 'emitted'), record(3, 'missed'));
    assert.deepEqual(after.given, [['missed', 3]]);
  });

  it('repeats nothing if the history is written in another form, or in another time zone, from now on', async () => {
    const bodies = Array.from({ length: 20 }, (_, id) => `T,body ${id},x\r\n`);
    const all = (form: Writing, time?: string): object[] =>
      bodies.map((body, id) => record(id + 1, keptOf(body, form), time));
    for (const before of WRITINGS)
      for (const after of WRITINGS) {
        const subject = await connected(all(before));
        for (const time of [undefined, '2026-01-01 08:00:00']) {
          await subject.reads(...all(after, time));
        }
        assert.deepEqual(subject.given, [], `${before}, then ${after}`);
      }
  });
});

describe('recovery from a short history', () => {
  it('reports once that uploads may be lost', async () => {
    const subject = await connected([record(1, 'before')]);
    await subject.reads(record(5, 'missed 4'), record(6, 'missed 5'));
    assert.deepEqual(subject.bodies(), ['missed 4', 'missed 5']);
    assert.deepEqual(subject.kinds(), ['uploads lost']);
    assert.match(subject.faults[0]!.text, /between the ids 1 and 5/);
  });

  it('reports nothing for a history that was empty before, since ids need not begin at 1', async () => {
    const subject = await connected();
    await subject.reads(record(1000, 'missed 1'), record(1001, 'missed 2'));
    assert.equal(subject.given.length, 2);
    assert.deepEqual(subject.kinds(), []);
  });
});

describe('recovery of a device whose clock is days ahead', () => {
  it('emits nothing again as time goes by', async () => {
    let now = Date.UTC(2026, 0, 1);
    const at = (hours: number): string =>
      new Date(Date.UTC(2026, 0, 3) + hours * 3_600_000)
        .toISOString()
        .slice(0, 19)
        .replace('T', ' ');
    const subject = createSubject({}, { now: () => now });
    const records = Array.from({ length: 100 }, (_, hour) =>
      record(hour + 1, `body ${hour}`, at(hour)),
    );
    await subject.reads(...records);
    for (let day = 0; day < 10; day++) {
      now += 24 * 3_600_000;
      await subject.connect();
    }
    assert.deepEqual(subject.given, []);
    assert.deepEqual(subject.faults, []);
  });
});
