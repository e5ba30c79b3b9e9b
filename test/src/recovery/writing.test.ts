import assert from 'node:assert/strict';
import { HistoryFacts } from '../../../src/recovery/facts';
import { seemsBase64 } from '../../../src/recovery/writing';
import { keptOf } from './history';
import { connected, createSubject, records } from './subject';

const base64 = (body: string | Buffer): string => Buffer.from(body).toString('base64');

describe('the writing of a history', () => {
  for (const [writing, keep] of [
    ['text', (body: string) => body],
    ['base64', base64],
  ] as const)
    it(`is known to a new device, and after a restart (${writing})`, async () => {
      const facts = new HistoryFacts();
      const subject = createSubject({}, { facts });
      const bodies = ['1,2', '3,4', '5,6\n'].map(keep);
      await subject.connect();
      for (const body of ['1,2', '3,4', '5,6\n']) subject.live(body);
      await subject.reads(...records(...bodies));
      assert.equal(facts.writing, writing);
      assert.deepEqual(subject.kinds(), writing === 'base64' ? ['writing base64'] : []);
      const start = subject.position();
      const restored = new HistoryFacts();
      restored.restore(facts.learned);
      for (const known of [
        createSubject({}, { facts }),
        createSubject({ start }, { facts: restored }),
      ]) {
        await known.reads(...records(...bodies));
        await known.reads(...records(...bodies, 'MTAyNA=='));
        const [missed] = known.uploads;
        const body = writing === 'base64' ? '1024' : 'MTAyNA==';
        assert.deepEqual([String(missed?.body), missed?.altered], [body, undefined]);
      }
    });

  /** The marks of what is given back after what has arrived. */
  async function marked(arrived: (string | Buffer)[], written: string[]) {
    const subject = await connected();
    for (const body of arrived) subject.live(body);
    await subject.reads(...records(...written));
    return subject.uploads
      .slice(arrived.length)
      .map(({ body, altered }) => [body.toString('latin1'), altered]);
  }

  it('may be Base64 for binary data alone: then what may be either is marked', async () => {
    const bytes = Buffer.from([0xfe, 0x00]);
    const written = ['21.5', '22.0', base64(bytes), '/w==', 'MjEuNQ==', 'no Base64'];
    assert.deepEqual(await marked(['21.5', '22.0', bytes], written), [
      ['\xff', true],
      ['MjEuNQ==', true],
      ['no Base64', undefined],
    ]);
  });

  it('marks what may be text where most is in Base64', async () => {
    const arrived = ['1,a', '2,b', '3,c', '4,d'];
    const written = [...arrived.slice(0, 3).map(base64), '4,d', 'MjEuNQ==', 'no Base64'];
    assert.deepEqual(await marked(arrived, written), [
      ['21.5', true],
      ['no Base64', true],
    ]);
  });

  it('marks a body in which bytes were replaced that are not UTF-8', async () => {
    const [first, second] = await marked(['now'], ['now', '\ufffd1', '1']);
    assert.equal(first?.[1], true);
    assert.deepEqual(second, ['1', undefined]);
  });

  it('is taken for Base64 if nothing is known, and all bodies decode to text or are padded', () => {
    for (const bodies of [['MjEuNQ==', 'dGVzdGVk'], ['bWlzc2Vk'], ['/v7+', '/w==']])
      assert.equal(seemsBase64(bodies), true, bodies.join());
    for (const bodies of [[], [''], ['test'], ['1024', '2048'], ['MjEuNQ==', '21.5'], [null]])
      assert.equal(seemsBase64(bodies), false, JSON.stringify(bodies));
  });
});

describe('a history that does not keep what was uploaded', () => {
  for (const form of ['trimmed', 'tagged'] as const) {
    const has = (...bodies: string[]): object[] =>
      records(...bodies.map((body) => keptOf(body, form)));
    const arrived = ['{"t":21,"h":40}\r\n', '{"t":22,"h":40}\r\n', 't=23\r\n'];

    it(`doubles nothing, and marks all that it gives back (${form})`, async () => {
      const facts = new HistoryFacts();
      const subject = await connected([], {}, { facts });
      for (const body of arrived) subject.live(body);
      await subject.reads(...has(...arrived, '{"t":24,"h":41}\r\n', 'plain'));
      const given = subject.uploads.slice(3).map(({ body, altered }) => [String(body), altered]);
      const lost = form === 'tagged' ? '"h":41}' : '{"t":24,"h":41}';
      assert.deepEqual(given, [
        [lost, true],
        ['plain', true],
      ]);
      assert.equal(facts.writing, form);
      assert.deepEqual(subject.kinds(), [`writing ${form}`]);
      assert.equal(subject.faults.length, 1);
      const example =
        form === 'tagged'
          ? /was .*t.*21.*, and its record is .*40/
          : /was .*, and its record is .*t.*21/;
      assert.match(subject.faults[0]!.text, example);
    });

    it(`is known to a new device, and after a restart (${form})`, async () => {
      const before = await connected();
      for (const body of arrived) before.live(body);
      await before.reads(...has(...arrived));
      const after = await connected([...has(...arrived, '25,26')], { start: before.position() });
      assert.deepEqual(
        after.uploads.map(({ body, altered }) => [String(body), altered]),
        [[form === 'tagged' ? '26' : '25,26', true]],
      );
    });
  }

  it('may have nothing of an upload of white space or of a single comma, or no record of it', async () => {
    for (const kept of [true, false]) {
      const subject = await connected();
      const blank = ['\r\n', '  ', ',', '\n'];
      for (const body of ['a\r\n', ...blank, 'b\r\n']) subject.live(body);
      const bodies = ['a', ...(kept ? blank.map(() => '') : []), 'b'];
      await subject.reads(...records(...bodies));
      await subject.reads(...records(...bodies, 'missed'));
      assert.deepEqual(subject.bodies(6), ['missed']);
    }
  });
});

describe('what is given back before any upload has come both ways', () => {
  const marks = async (facts: HistoryFacts): Promise<unknown[]> => {
    const subject = await connected([], {}, { facts });
    await subject.reads(...records('b'));
    assert.deepEqual(subject.given, [['b', 1]]);
    return subject.uploads.map(({ altered }) => altered);
  };

  it('is marked, since nothing shows whether the history keeps what was uploaded', async () => {
    assert.deepEqual(await marks(new HistoryFacts()), [true]);
  });

  const afterAnother = async (body: string): Promise<unknown[]> => {
    const facts = new HistoryFacts();
    const other = await connected([], {}, { facts });
    other.live(body);
    await other.reads(...records(body));
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
    const subject = await connected();
    for (const body of ['a,1', 'a,2', 'a,3']) subject.live(body);
    const written = ['a,1', 'a,2', 'a,3'].map((body) => Buffer.from(body).toString('base64'));
    await subject.reads(...records(...written));
    // Tagged from now on: this was `b,20.5`.
    await subject.reads(...records(...written, '20.5'));
    assert.deepEqual(
      subject.uploads.slice(3).map(({ body, altered }) => [String(body), altered]),
      [['20.5', true]],
    );
  });

  it('is marked after a restart, if only others have', async () => {
    const facts = new HistoryFacts();
    const other = await connected([], {}, { facts });
    for (const body of ['t=1', 't=2', 't=3']) other.live(body);
    await other.reads(...records('t=1', 't=2', 't=3'));
    const subject = await connected([], {}, { facts });
    const after = createSubject({ start: subject.position() });
    // The history is tagged: this was `a,b1`.
    await after.reads(...records('b1'));
    assert.deepEqual(
      after.uploads.map(({ altered }) => altered),
      [true],
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
      for (const { subject } of devices) await subject.connect();
      for (let round = 0; round < 6; round++)
        for (const { bodyOf, subject, written } of devices) {
          for (const count of [3, 4, 5]) {
            const body = bodyOf(10 * round + count);
            written.push(keptOf(body, form));
            if (count < 5) subject.live(body);
          }
          await subject.reads(...records(...written));
        }
      for (const { subject, bodyOf } of devices) {
        assert.ok(subject.kinds().every((kind) => kind.startsWith('writing')));
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
