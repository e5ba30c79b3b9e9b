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

describe('a history that is seconds behind', () => {
  useClock();

  /** A device whose history has everything as many seconds later. */
  function behind(lag: number) {
    const subject = createSubject();
    const written: { body: string; from: number }[] = [];
    const show = (): void => {
      const shown = written.filter(({ from }) => from <= Date.now()).map(({ body }) => body);
      subject.has(...records('before', ...shown));
    };
    const store = (body: string): void =>
      void written.push({ body, from: Date.now() + lag * 1000 });
    show();
    return {
      ...subject,
      missed: store,
      arrives(body: string): void {
        store(body);
        subject.live(body);
      },
      async seconds(count: number): Promise<void> {
        for (let step = 0; step < count * 4; step++) {
          await pass(250);
          show();
        }
      },
    };
  }

  it('gives back what was missed, although no upload comes after it', async () => {
    const subject = behind(4);
    await subject.connect();
    subject.arrives('one');
    await subject.seconds(10);
    subject.missed('missed');
    await subject.connect();
    await subject.seconds(20);
    assert.deepEqual(subject.given, [
      ['one', 'live'],
      ['missed', 3],
    ]);
    const before = subject.readings();
    await subject.seconds(600);
    assert.ok(subject.readings() <= before + 5, `${subject.readings() - before} readings`);
    subject.recovery.close();
  });

  it('gives back what was missed, although its answers have been used as they are', async () => {
    const subject = behind(6);
    await subject.connect();
    for (let count = 0; count < 3; count++) {
      for (let upload = 0; upload < 20; upload++) {
        subject.arrives(`${count} ${upload}`);
        await subject.seconds(0.25);
      }
      subject.missed(`missed ${count}`);
      await subject.connect();
    }
    for (let upload = 0; upload < 20; upload++) {
      subject.arrives(`last ${upload}`);
      await subject.seconds(0.25);
    }
    await subject.seconds(60);
    const given = subject.given.map(([body]) => body);
    assert.equal(given.length, new Set(given).size);
    assert.equal(given.length, 4 * 20 + 3);
    const before = subject.readings();
    await subject.seconds(600);
    assert.ok(subject.readings() <= before + 5, `${subject.readings() - before} readings`);
    subject.recovery.close();
  });
});

describe('a history that has nothing of what arrived at first, and then only the beginning', () => {
  useClock();

  it('gives back what was missed, which is no arrival in another writing', async () => {
    const subject = createSubject();
    subject.has(...records('before'));
    await subject.connect();
    for (const body of ['a', 'b', 'c']) subject.live(body);
    await settled();
    await subject.connect();
    for (const body of ['d', 'e', 'f']) subject.live(body);
    while (subject.readings() < 5) await pass(250);
    const written = ['before', 'a', 'b', 'c', 'missed'];
    subject.has(...records(...written));
    await minutes(0.25);
    subject.has(...records(...written, 'd', 'e', 'f'));
    await minutes(1);
    assert.deepEqual(
      subject.given.filter(([, id]) => id !== 'live'),
      [['missed', 5]],
    );
    assert.equal(subject.given.length, 7);
    subject.recovery.close();
  });
});

describe('a history that is empty for a moment', () => {
  useClock();

  it('is read again after a cut, until it is there', async () => {
    const subject = createSubject();
    subject.has(...records('a', 'b', 'c', 'd'));
    await subject.connect();
    subject.has();
    await subject.connect();
    await pass(1000);
    subject.has(...records('a', 'b', 'c', 'd', 'missed'));
    for (let second = 0; second < 15; second++) await pass(1000);
    assert.deepEqual(subject.given, [['missed', 5]]);
    assert.deepEqual(subject.faults, []);
    subject.recovery.close();
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

  it('is named in the log once, although what was missed has come back before', async () => {
    const subject = createSubject();
    subject.has(...records('before'));
    await subject.connect();
    subject.live('never stored');
    // Nothing is there that could show that it was not stored.
    await minutes(1);
    subject.has(...records('before', 'missed'));
    await subject.connect();
    for (const body of ['a', 'b']) subject.live(body);
    subject.has(...records('before', 'missed', 'a', 'b'));
    for (let cut = 0; cut < 3; cut++) await subject.connect();
    assert.deepEqual(subject.given, [
      ['never stored', 'live'],
      ['missed', 2],
      ['a', 'live'],
      ['b', 'live'],
    ]);
    assert.deepEqual(
      subject.faults.map(({ text }) => text),
      ['the history does not contain an upload that arrived live: "never stored"'],
    );
    subject.recovery.close();
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
