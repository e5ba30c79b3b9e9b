import assert from 'node:assert/strict';
import { HistoryFacts } from '../../../src/history/form';
import { settled } from '../../../tooling/until';
import { keptOf } from './history';
import { createSubject, factsOf, record } from './subject';
import { pass, useClock } from '../../support/clock';

const reversed = (text: string): string => [...text].reverse().join('');
const records = (...bodies: string[]): object[] =>
  bodies.map((body, index) => record(index + 1, body));

describe('a history that has what arrived in no form that is known', () => {
  useClock();

  it('gives nothing back after three arrivals, says so once, and again once it is understood', async () => {
    const subject = createSubject();
    subject.has(...records('before'));
    await subject.connect();
    for (const body of ['one', 'two', 'three']) subject.live(body);
    const written = ['before', ...['one', 'two', 'three', 'missed'].map(reversed)];
    subject.has(...records(...written));
    await subject.connect();
    for (let minute = 0; minute < 30; minute++) await pass(60_000);
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
    // The service is repaired: what was missed meanwhile comes back.
    subject.has(...records('before', 'one', 'two', 'three', 'missed'));
    await subject.connect();
    assert.deepEqual(subject.given.slice(3), [['missed', 5]]);
    assert.deepEqual(subject.kinds(), ['history not understood', 'history understood']);
    subject.recovery.close();
  });

  it('is not understood because nothing is left to compare with it', async () => {
    const subject = createSubject({ saves: false });
    subject.has(record(1, 'old'));
    await subject.connect();
    for (const body of ['live 1', 'live 2', 'live 3']) subject.live(body);
    subject.has(
      record(1, 'old'),
      ...['1 evil', '2 evil', '3 evil'].map((body, index) => record(2 + index, body)),
    );
    await subject.connect();
    assert.deepEqual(subject.kinds(), ['history not understood']);
    for (let count = 0; count < 10_001; count++) subject.live(`more ${count}`);
    for (let minute = 0; minute < 5; minute++) await pass(60_000);
    await subject.connect();
    await pass(1000);
    assert.ok(!subject.kinds().includes('history understood'));
  });

  it('does not keep a single upload of many from being recovered', async () => {
    const subject = createSubject();
    subject.has(...records('before'));
    await subject.connect();
    for (const body of ['a', 'odd', 'b']) subject.live(body);
    subject.has(...records('before', 'a', 'ddo', 'b', 'missed'));
    await subject.connect();
    for (let minute = 0; minute < 10; minute++) await pass(60_000);
    assert.deepEqual(
      subject.given.slice(3).map(([body]) => body),
      ['missed'],
    );
    // The record between the two others may be the upload that was not found: that is reported.
    assert.deepEqual(subject.kinds(), ['not given back']);
    subject.recovery.close();
  });

  it('does not double a single upload after which others were missed', async () => {
    const subject = createSubject();
    subject.has(...records('before'));
    await subject.connect();
    for (const body of ['a', 'odd']) subject.live(body);
    subject.has(...records('before', 'a', 'ddo', 'missed 1', 'missed 2'));
    await subject.connect();
    for (let minute = 0; minute < 10; minute++) await pass(60_000);
    assert.deepEqual(subject.given.slice(2), [
      ['missed 1', 4],
      ['missed 2', 5],
    ]);
    assert.deepEqual(subject.kinds(), ['not given back']);
    subject.recovery.close();
  });

  it('gives back all that was missed around a single upload that it does not have', async () => {
    const subject = createSubject();
    subject.has(...records('before'));
    await subject.connect();
    subject.live('a');
    subject.has(...records('before', 'a', 'missed 1', 'missed 2'));
    subject.recovery.onState('connected');
    subject.live('odd');
    await settled();
    await subject.connect();
    for (let minute = 0; minute < 10; minute++) await pass(60_000);
    assert.deepEqual(subject.given.map(([body]) => body).sort(), [
      'a',
      'missed 1',
      'missed 2',
      'odd',
    ]);
    subject.recovery.close();
  });

  it('counts as text with fewer arrivals', async () => {
    const subject = createSubject();
    subject.has(...records('before'));
    await subject.connect();
    subject.live('one');
    subject.has(...records('before', 'one', 'a,b', ' c '));
    await subject.connect();
    assert.deepEqual(subject.given.slice(1), [
      ['a,b', 3],
      [' c ', 4],
    ]);
    assert.ok(subject.uploads.every(({ altered }) => altered === undefined));
  });
});

describe('a history that does not keep what was uploaded', () => {
  for (const form of ['trimmed', 'tagged'] as const) {
    const has = (...bodies: string[]): object[] =>
      records(...bodies.map((body) => keptOf(body, form)));
    const arrived = ['{"t":21,"h":40}\r\n', '{"t":22,"h":40}\r\n', 't=23\r\n'];

    it(`doubles nothing, and marks all that it gives back (${form})`, async () => {
      const facts = new HistoryFacts();
      const subject = createSubject({}, { facts });
      await subject.connect();
      for (const body of arrived) subject.live(body);
      subject.has(...has(...arrived, '{"t":24,"h":41}\r\n', 'plain'));
      await subject.connect();
      const given = subject.uploads.slice(3).map(({ body, altered }) => [String(body), altered]);
      const lost = form === 'tagged' ? '"h":41}' : '{"t":24,"h":41}';
      assert.deepEqual(given, [
        [lost, true],
        ['plain', true],
      ]);
      assert.equal(facts.form, form);
      assert.deepEqual(subject.faults, []);
    });

    it(`is known to a new device, and after a restart (${form})`, async () => {
      const before = createSubject();
      await before.connect();
      for (const body of arrived) before.live(body);
      before.has(...has(...arrived));
      await before.connect();
      const after = createSubject({ start: before.position() });
      after.has(...has(...arrived, '25,26'));
      await after.connect();
      assert.deepEqual(
        after.uploads.map(({ body, altered }) => [String(body), altered]),
        [[form === 'tagged' ? '26' : '25,26', true]],
      );
    });
  }

  it('may have nothing of an upload of white space or of a single comma, or no record of it', async () => {
    for (const kept of [true, false]) {
      const subject = createSubject();
      await subject.connect();
      const blank = ['\r\n', '  ', ',', '\n'];
      for (const body of ['a\r\n', ...blank, 'b\r\n']) subject.live(body);
      const bodies = ['a', ...(kept ? blank.map(() => '') : []), 'b'];
      subject.has(...records(...bodies));
      await subject.connect();
      subject.has(...records(...bodies, 'missed'));
      await subject.connect();
      assert.deepEqual(
        subject.given.slice(6).map(([body]) => body),
        ['missed'],
      );
      assert.deepEqual(subject.faults, []);
    }
  });

  it('is marked, too, where it is mixed with Base64', async () => {
    const subject = createSubject();
    await subject.connect();
    const base64 = (body: string): string => Buffer.from(body).toString('base64');
    for (const body of ['1,a', '2,b', '3,c', '4,d']) subject.live(body);
    const written = [base64('1,a'), base64('2,b'), base64('3,c'), 'd'];
    subject.has(...records(...written, 'e', base64('6,f')));
    await subject.connect();
    assert.deepEqual(
      subject.uploads.slice(4).map(({ body, altered }) => [String(body), altered]),
      [
        ['e', true],
        ['6,f', true],
      ],
    );
  });

  it('counts equal bodies within a second', async () => {
    const subject = createSubject({}, { facts: factsOf('tagged') });
    await subject.connect();
    for (const body of ['1,on', '2,on']) subject.live(body);
    subject.has(...records('on', 'on', 'on'));
    await subject.connect();
    assert.equal(subject.given.length, 3);
  });

  it('may change its form, and nothing is emitted twice meanwhile', async () => {
    const facts = new HistoryFacts();
    const subject = createSubject({}, { facts });
    await subject.connect();
    const first = ['1,a', '2,b', '3,c'];
    for (const body of first) subject.live(body);
    subject.has(...records(...first));
    await subject.connect();
    assert.equal(facts.form, 'text');
    const written: string[] = [...first];
    for (let round = 4; round < 14; round++) {
      subject.live(`${round},x${round}`);
      written.push(`x${round}`);
      subject.has(...records(...written));
      await subject.connect();
    }
    assert.equal(subject.given.length, 13);
    assert.equal(facts.form, 'tagged');
  });
});

describe('data of the transparent serial mode', () => {
  it('is emitted at once, and is not looked for in the history', async () => {
    const subject = createSubject();
    await subject.connect();
    const serial = (body: string): void =>
      subject.recovery.onUpload({
        ...{ chipid: '1', appid: '1', timestamp: 0, type: 'uart_trans' },
        body: Buffer.from(body),
      });
    for (const body of ['a', 'b', 'c', 'd']) serial(body);
    subject.has(...records('missed', 'a'));
    await subject.connect();
    assert.deepEqual(subject.given, [
      ['a', 'live'],
      ['b', 'live'],
      ['c', 'live'],
      ['d', 'live'],
      ['missed', 1],
      ['a', 2],
    ]);
    assert.equal(subject.position()?.live, 0);
  });
});

describe('an upload that is announced after it was recovered', () => {
  useClock();

  for (const isNew of [false, true])
    it(`is emitted once${isNew ? ', and another one of the same body, too' : ''}`, async () => {
      const subject = createSubject();
      subject.has(...records('before'));
      await subject.connect();
      subject.has(...records('before', 'missed'));
      await subject.connect();
      subject.live('missed');
      subject.live('later');
      const more = isNew ? ['missed', 'later'] : ['later'];
      subject.has(...records('before', 'missed', ...more));
      await pass(1000);
      assert.deepEqual(
        subject.given.map(([body]) => body),
        ['missed', ...more],
      );
      subject.recovery.close();
    });
});

describe('a history in a form that nobody knows, with an upload between two cuts', () => {
  useClock();

  it('doubles nothing, and is not understood after the third', async () => {
    const subject = createSubject();
    subject.has(...records('before'));
    await subject.connect();
    const written = ['before'];
    for (let round = 1; round <= 8; round++) {
      subject.live(`t=${round}`);
      written.push(`T=${round}`);
      subject.has(...records(...written));
      await subject.connect();
      for (let round = 0; round < 10; round++) {
        await pass(30_000);
      }
    }
    assert.deepEqual(
      subject.given.map(([, id]) => id),
      Array.from({ length: 8 }, () => 'live'),
    );
    assert.deepEqual(subject.kinds(), ['pending', 'history not understood']);
    subject.recovery.close();
  });

  it('doubles nothing with fewer, whatever was missed, and gives it back once an upload is found', async () => {
    const subject = createSubject();
    subject.has(...records('before'));
    await subject.connect();
    subject.live('one');
    const written = ['before', 'eno', 'dessim'];
    subject.has(...records(...written));
    await subject.connect();
    const wait = async (): Promise<void> => {
      for (let round = 0; round < 10; round++) {
        await pass(30_000);
      }
    };
    await wait();
    assert.deepEqual(subject.given, [['one', 'live']]);
    assert.equal(subject.faults.length, 1);
    assert.match(subject.faults[0]!.text, /^2 records of the history cannot be told apart/);
    assert.deepEqual(subject.kinds(), ['pending']);
    // The service is repaired, for old records too.
    subject.live('two');
    subject.has(...records('before', 'one', 'missed', 'two'));
    await subject.connect();
    await wait();
    assert.deepEqual(subject.given.slice(2), [['missed', 3]]);
    subject.recovery.close();
  });
});

describe('what is given back before any upload has come both ways', () => {
  const marks = async (facts: HistoryFacts): Promise<unknown[]> => {
    const subject = createSubject({}, { facts });
    await subject.connect();
    subject.has(...records('b'));
    await subject.connect();
    assert.deepEqual(subject.given, [['b', 1]]);
    return subject.uploads.map(({ altered }) => altered);
  };

  it('is marked, since nothing shows whether the history keeps what was uploaded', async () => {
    assert.deepEqual(await marks(new HistoryFacts()), [true]);
  });

  const afterAnother = async (body: string): Promise<unknown[]> => {
    const facts = new HistoryFacts();
    const other = createSubject({}, { facts });
    await other.connect();
    other.live(body);
    other.has(...records(body));
    await other.connect();
    return marks(facts);
  };

  it('is text without a mark once one of any device has that every form would alter', async () => {
    assert.deepEqual(await afterAnother('t=21\r\n'), [undefined]);
  });

  it('is marked after one of another device that no form would alter: its firmware may be another', async () => {
    assert.deepEqual(await afterAnother('t=21'), [true]);
    // White space at its ends might be gone.
    assert.deepEqual(await afterAnother('t,21'), [true]);
  });

  it('is marked if it is text in a history that has shown only Base64', async () => {
    const subject = createSubject();
    await subject.connect();
    for (const body of ['a,1', 'a,2', 'a,3']) subject.live(body);
    const written = ['a,1', 'a,2', 'a,3'].map((body) => Buffer.from(body).toString('base64'));
    subject.has(...records(...written));
    await subject.connect();
    // Tagged from now on: this was `b,20.5`.
    subject.has(...records(...written, '20.5'));
    await subject.connect();
    assert.deepEqual(
      subject.uploads.slice(3).map(({ body, altered }) => [String(body), altered]),
      [['20.5', true]],
    );
  });

  it('is text without a mark once one of the same device has', async () => {
    const subject = createSubject();
    await subject.connect();
    subject.live('t=1');
    subject.has(...records('t=1'));
    await subject.connect();
    subject.has(...records('t=1', 't=2'));
    await subject.connect();
    assert.deepEqual(
      subject.uploads.map(({ altered }) => altered),
      [undefined, undefined],
    );
  });

  it('is marked after a restart, if only others have', async () => {
    const facts = new HistoryFacts();
    const other = createSubject({}, { facts });
    await other.connect();
    for (const body of ['t=1', 't=2', 't=3']) other.live(body);
    other.has(...records('t=1', 't=2', 't=3'));
    await other.connect();
    const subject = createSubject({}, { facts });
    await subject.connect();
    const after = createSubject({ start: subject.position() });
    // The history is tagged: this was `a,b1`.
    after.has(...records('b1'));
    await after.connect();
    assert.deepEqual(
      after.uploads.map(({ altered }) => altered),
      [true],
    );
  });

  it('is text without a mark after a restart, once several have', async () => {
    const subject = createSubject();
    await subject.connect();
    for (const body of ['t=1', 't=2', 't=3']) subject.live(body);
    subject.has(...records('t=1', 't=2', 't=3'));
    await subject.connect();
    const after = createSubject({ start: subject.position() });
    after.has(...records('t=1', 't=2', 't=3', 't=4'));
    await after.connect();
    assert.deepEqual(
      after.uploads.map(({ body, altered }) => [String(body), altered]),
      [['t=4', undefined]],
    );
  });
});

describe('a history that is written in another form from some time on, old records too', () => {
  for (const [before, after] of [
    ['text', 'tagged'],
    ['text', 'trimmed'],
    ['tagged', 'text'],
  ] as const)
    it(`repeats nothing: first ${before}, then ${after}`, async () => {
      const subject = createSubject();
      const bodies = ['1,a\r\n', '2,b\r\n', '3,c\r\n', '4,d\r\n'];
      const has = (form: typeof before | typeof after, ...more: string[]): void =>
        subject.has(...records(...[...bodies, ...more].map((body) => keptOf(body, form))));
      await subject.connect();
      for (const body of bodies) subject.live(body);
      has(before, 'missed,1');
      await subject.connect();
      assert.equal(subject.given.length, 5);
      const more = ['5,e\r\n', '6,f\r\n', '7,g\r\n'];
      for (const body of more) subject.live(body);
      has(after, 'missed,1', ...more, 'missed,2');
      await subject.connect();
      await subject.connect();
      assert.equal(subject.given.length, 9);
      assert.deepEqual(
        subject.kinds().filter((kind) => kind !== 'not given back'),
        [],
      );
    });
});

describe('devices with different firmware in one application', () => {
  /** What each of them uploads: with line ends, with commas, and as a history keeps it. */
  const FIRMWARE: readonly ((count: number) => string)[] = [
    (count) => `t=${count}\r\n`,
    (count) => `{"h":40,"t":${count}}`,
    (count) => `t=${count};h=40`,
  ];

  for (const form of ['trimmed', 'tagged', 'text', 'base64'] as const)
    it(`share what is learned of a history that is ${form}, and each gets back what it missed`, async () => {
      const facts = new HistoryFacts();
      const devices = FIRMWARE.map((bodyOf) => ({
        bodyOf,
        subject: createSubject({}, { facts }),
        written: [] as string[],
      }));
      const kept = (body: string): string =>
        form === 'base64' ? Buffer.from(body).toString('base64') : keptOf(body, form);
      for (const { subject } of devices) await subject.connect();
      for (let round = 0; round < 6; round++)
        for (const { bodyOf, subject, written } of devices) {
          for (const count of [3, 4, 5]) {
            const body = bodyOf(10 * round + count);
            written.push(kept(body));
            if (count < 5) subject.live(body);
          }
          subject.has(...records(...written));
          await subject.connect();
        }
      for (const { subject, bodyOf } of devices) {
        assert.deepEqual(subject.kinds(), []);
        assert.equal(subject.given.length, 18);
        const missed = subject.uploads.filter(({ replayed }) => replayed);
        const asKept = (body: string): string => (form === 'base64' ? body : keptOf(body, form));
        assert.deepEqual(
          missed.map(({ body }) => body.toString()),
          Array.from({ length: 6 }, (_, round) => asKept(bodyOf(10 * round + 5))),
        );
        // Not one that lacks something passes for whole.
        const unmarked = missed.filter(
          ({ altered, body }, round) => !altered && body.toString() !== bodyOf(10 * round + 5),
        );
        assert.deepEqual(unmarked, []);
      }
    });
});
