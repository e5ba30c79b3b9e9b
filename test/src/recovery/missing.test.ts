import assert from 'node:assert/strict';
import { settled } from '../../tooling/until';
import { connected, createSubject, records } from './subject';
import { pass, useClock } from '../../support/clock';

const reversed = (text: string): string => [...text].reverse().join('');

/** As long as readings are repeated soon. */
async function minutes(count: number): Promise<void> {
  for (let second = 0; second < count * 60; second += 5) await pass(5000);
}

describe('a history that has what arrived in no writing that is known', () => {
  useClock();

  it('gives nothing back after three arrivals, says so once, and again once it is understood', async () => {
    const subject = await connected(records('before'));
    for (const body of ['one', 'two', 'three']) subject.live(body);
    const written = ['before', ...['one', 'two', 'three', 'missed'].map(reversed)];
    await subject.reads(...records(...written));
    await minutes(30);
    await subject.connect();
    assert.deepEqual(
      subject.given.map(([, id]) => id),
      ['live', 'live', 'live'],
    );
    assert.deepEqual(subject.kinds(), ['history not understood']);
    assert.equal(subject.faults.length, 1);
    assert.match(
      subject.faults[0]!.text,
      /an upload was "three", and the newest record is "dessim"/,
    );
    assert.ok(subject.readings() < 30, `${subject.readings()} readings in half an hour`);
    // An upload that was forgotten, since many have arrived after it, proves nothing.
    for (let count = 0; count < 10_001; count++) subject.live(`more ${count}`);
    await minutes(5);
    assert.ok(!subject.kinds().includes('history understood'));
    subject.recovery.close();
  });

  it('gives back what was missed meanwhile once it is understood', async () => {
    const subject = await connected(records('before'));
    for (const body of ['one', 'two', 'three']) subject.live(body);
    await subject.reads(...records('before', ...['one', 'two', 'three', 'missed'].map(reversed)));
    await minutes(1);
    await subject.reads(...records('before', 'one', 'two', 'three', 'missed'));
    assert.deepEqual(subject.given.slice(3), [['missed', 5]]);
    assert.deepEqual(subject.kinds(), ['history not understood', 'history understood']);
    subject.recovery.close();
  });

  it('doubles no upload between two cuts', async () => {
    const subject = createSubject();
    const written = ['before'];
    await subject.reads(...records(...written));
    for (let round = 1; round <= 8; round++) {
      subject.live(`t=${round}`);
      written.push(`T=${round}`);
      await subject.reads(...records(...written));
      await minutes(1);
    }
    assert.deepEqual(
      subject.given.map(([, id]) => id),
      Array.from({ length: 8 }, () => 'live'),
    );
    assert.deepEqual(subject.kinds(), ['not given back']);
    subject.recovery.close();
  });

  it('gives back all others of fewer than three, whatever was missed', async () => {
    const subject = await connected(records('before'));
    subject.live('one');
    await subject.reads(...records('before', 'eno', 'dessim'));
    await minutes(1);
    assert.deepEqual(subject.given, [
      ['one', 'live'],
      ['dessim', 3],
    ]);
    assert.deepEqual(subject.kinds(), ['not given back']);
    assert.match(subject.faults[0]!.text, /the upload was "one", and the record is "eno"/);
    subject.recovery.close();
  });
});

describe('a history that lags', () => {
  useClock();

  it('is waited for after a cut until it has what came next, so that what was missed is in order, also after a restart', async () => {
    const written = ['before'];
    const first = await connected(records(...written));
    first.live('one');
    first.live('two');
    await first.connect();
    first.has(...records(...written, 'one', 'two'));
    await minutes(1);
    assert.deepEqual(first.given, [
      ['one', 'live'],
      ['two', 'live'],
    ]);
    const later = createSubject({ start: first.position() });
    first.recovery.close();
    written.push('one', 'two');
    await later.reads(...records(...written));
    // Nothing has come since: it may lack what was missed.
    later.live('next');
    await settled();
    assert.deepEqual(later.given, []);
    later.has(...records(...written, 'missed', 'next'));
    await minutes(1);
    later.live('last');
    assert.deepEqual(later.given, [
      ['missed', 4],
      ['next', 'live'],
      ['last', 'live'],
    ]);
    assert.deepEqual(later.faults, []);
    later.recovery.close();
  });
});

describe('a history that spoils or lacks a single upload', () => {
  useClock();

  /** What is given back if one of the arrivals is not there, and what the log has. */
  async function spoilt(arrived: string[], ...written: string[]) {
    const subject = await connected(records('before'));
    for (const body of arrived) subject.live(body);
    await subject.reads(...records('before', ...written));
    await minutes(1);
    subject.recovery.close();
    const given = subject.given.slice(arrived.length).map(([body]) => body);
    return { given, kinds: subject.kinds() };
  }

  it('has the others recovered', async () => {
    // Nothing can have been missed between two that arrived without a gap.
    assert.deepEqual(await spoilt(['a', 'odd', 'b'], 'a', 'ddo', 'b', 'missed'), {
      given: ['missed'],
      kinds: ['not given back'],
    });
    assert.deepEqual(await spoilt(['a', '21°'], 'a', '21?', 'missed 1', 'missed 2'), {
      given: ['missed 1', 'missed 2'],
      kinds: ['not given back'],
    });
    // A text that no history spoils was never stored.
    assert.deepEqual(await spoilt(['a', '21', 'b'], 'a', 'b', 'missed 1', 'missed 2'), {
      given: ['missed 1', 'missed 2'],
      kinds: ['not in the history'],
    });
  });

  it('gives back all that was missed around a single upload that it does not have', async () => {
    const subject = await connected(records('before'));
    subject.live('a');
    subject.has(...records('before', 'a', 'missed 1', 'missed 2'));
    subject.recovery.onState('connected');
    subject.live('odd');
    await settled();
    await subject.connect();
    await minutes(1);
    assert.deepEqual(subject.bodies().sort(), ['a', 'missed 1', 'missed 2', 'odd']);
    subject.recovery.close();
  });
});

describe('data of the transparent serial mode', () => {
  it('is emitted at once, and is not looked for in the history', async () => {
    const subject = await connected();
    const serial = (body: string): void =>
      subject.recovery.onUpload({
        ...{ chipid: '1', appid: '1', timestamp: 0, type: 'uart_trans' },
        body: Buffer.from(body),
      });
    for (const body of ['a', 'b', 'c', 'd']) serial(body);
    await subject.reads(...records('missed', 'a'));
    assert.deepEqual(subject.given, [
      ['a', 'live'],
      ['b', 'live'],
      ['c', 'live'],
      ['d', 'live'],
      ['missed', 1],
      ['a', 2],
    ]);
    assert.equal(subject.position()?.keys, undefined);
  });
});

describe('an upload that is announced after it was recovered', () => {
  useClock();

  for (const isNew of [false, true])
    it(`is emitted once${isNew ? ', and another one of the same body, too' : ''}`, async () => {
      const subject = await connected(records('before'));
      await subject.reads(...records('before', 'missed'));
      subject.live('missed');
      subject.live('later');
      const more = isNew ? ['missed', 'later'] : ['later'];
      subject.has(...records('before', 'missed', ...more));
      await pass(1000);
      assert.deepEqual(subject.bodies(), ['missed', ...more]);
      subject.recovery.close();
    });
});
