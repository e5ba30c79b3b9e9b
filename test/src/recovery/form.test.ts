import assert from 'node:assert/strict';
import { guessEncoding, HistoryFacts, type HistoryForm } from '../../../src/history/form';
import { createSubject, factsOf, record } from './subject';
import { pass, useClock } from '../../support/clock';

const written = (body: string | Buffer, encoding: HistoryForm): string =>
  Buffer.from(body).toString(encoding === 'base64' ? 'base64' : 'utf8');

const written64 = (body: string | Buffer): string => written(body, 'base64');

describe('the learned encoding of a history', () => {
  for (const encoding of ['text', 'base64'] as const) {
    const has = (...bodies: (string | Buffer)[]): object[] =>
      bodies.map((body, index) => record(index + 1, written(body, encoding)));

    it(`causes no upload to be emitted twice with ${encoding}, by default`, async () => {
      const facts = new HistoryFacts();
      const subject = createSubject({}, { facts });
      await subject.connect();
      for (const body of ['21,5', 'test', '3,3,']) subject.live(body);
      subject.has(...has('21,5', 'test', '3,3,', '4,5', 'missed'));
      await subject.connect();
      assert.deepEqual(subject.given.slice(3), [
        ['4,5', 4],
        ['missed', 5],
      ]);
      subject.live('5,6');
      subject.has(...has('21,5', 'test', '3,3,', '4,5', 'missed', '5,6'));
      await subject.connect();
      assert.equal(subject.given.length, 6);
      assert.equal(facts.form, encoding);
      assert.deepEqual(subject.faults, []);
    });

    it(`is known to a new device, and after a restart (${encoding})`, async () => {
      const facts = new HistoryFacts();
      const subject = createSubject({}, { facts });
      await subject.connect();
      for (const body of ['1,2', '3,4', '5,6']) subject.live(body);
      subject.has(...has('1,2', '3,4', '5,6'));
      await subject.connect();
      const start = subject.position();
      for (const known of [createSubject({}, { facts }), createSubject({ start })]) {
        known.has(...has('1,2'));
        await known.connect();
        known.has(...has('1,2', 'MTAyNA=='));
        await known.connect();
        assert.deepEqual(known.given, [['MTAyNA==', 2]]);
      }
    });
  }

  it('delays ambiguous records until it is known', async () => {
    const subject = createSubject();
    await subject.connect();
    subject.live('test');
    // In text the second was missed; in Base64 the first, and the second is the one that arrived.
    const doubtful = [record(1, 'test'), record(2, 'dGVzdA==')];
    subject.has(...doubtful);
    await subject.connect();
    assert.deepEqual(subject.given, [['test', 'live']]);
    subject.live('now');
    subject.has(...doubtful, record(3, 'now'));
    await subject.connect();
    assert.deepEqual(subject.given, [
      ['test', 'live'],
      ['now', 'live'],
      ['dGVzdA==', 2],
    ]);
    subject.recovery.close();
  });

  it('distinguishes binary uploads in Base64', async () => {
    const subject = createSubject();
    await subject.connect();
    subject.live(Buffer.from([0xfe]));
    subject.has(record(1, '/g=='), record(2, '/w=='));
    await subject.connect();
    assert.equal(subject.given.length, 2);
    assert.equal(subject.given[1]![1], 2);
  });

  it('may be mixed: texts as text and binary data as Base64', async () => {
    for (const before of [['21.5'], [], ['21.5', '22.0', 'test']]) {
      const subject = createSubject();
      await subject.connect();
      const bytes = [Buffer.from([0xfe, 0x00]), Buffer.from([0xff, 0xfe, 0xfd])];
      const arrived = [...before, ...bytes, 'now'];
      for (const body of arrived) subject.live(body);
      const bodies = arrived.map((body) =>
        written(body, Buffer.isBuffer(body) ? 'base64' : 'text'),
      );
      subject.has(...[...bodies, 'missed'].map((body, index) => record(index + 1, body)));
      await subject.connect();
      await subject.connect();
      assert.deepEqual(subject.given.slice(arrived.length), [['missed', arrived.length + 1]]);
      assert.deepEqual(subject.faults, []);
    }
  });

  it('marks what may be either in a history that mixes both, now and later', async () => {
    const subject = createSubject();
    await subject.connect();
    const bytes = Buffer.from([0xfe, 0x00]);
    for (const body of ['21.5', '22.0', bytes]) subject.live(body);
    const written = ['21.5', '22.0', written64(bytes), written64(Buffer.from([0xff])), 'no Base64'];
    subject.has(...written.map((body, index) => record(index + 1, body)));
    await subject.connect();
    written.push('test', '23,0');
    subject.has(...written.map((body, index) => record(index + 1, body)));
    await subject.connect();
    assert.deepEqual(
      subject.uploads.slice(3).map(({ body, altered }) => [String(body), altered]),
      [
        ['/w==', true],
        ['no Base64', undefined],
        ['test', true],
        ['23,0', undefined],
      ],
    );
    assert.deepEqual(subject.faults, []);
  });

  it('marks what may be text where most is in Base64', async () => {
    const subject = createSubject();
    await subject.connect();
    for (const body of ['1,a', '2,b', '3,c', '4,d']) subject.live(body);
    const written = [...['1,a', '2,b', '3,c'].map(written64), '4,d', 'test', 'no Base64'];
    subject.has(...written.map((body, index) => record(index + 1, body)));
    await subject.connect();
    assert.deepEqual(
      subject.uploads
        .slice(4)
        .map(({ body, altered }) => [body.equals(Buffer.from('test', 'base64')), altered]),
      [
        [true, true],
        [false, undefined],
      ],
    );
  });

  it('marks a body in which bytes were replaced that are not UTF-8', async () => {
    const subject = createSubject();
    await subject.connect();
    subject.live('now');
    subject.has(record(1, 'now'), record(2, '\ufffd1'), record(3, '1'));
    await subject.connect();
    assert.deepEqual(
      subject.uploads.slice(1).map(({ altered }) => altered),
      [true, undefined],
    );
  });

  it('lets texts of such a history be read as text after binary data has arrived both ways', async () => {
    const subject = createSubject();
    await subject.connect();
    subject.live(Buffer.from([0xfe, 0x00]));
    subject.has(record(1, '/gA='), record(2, 'missed, and no Base64'));
    await subject.connect();
    assert.deepEqual(subject.given.slice(1), [['missed, and no Base64', 2]]);
  });

  it('may change from one upload to the next, and none is emitted twice', async () => {
    const subject = createSubject();
    await subject.connect();
    for (const body of ['test', 'data']) subject.live(body);
    subject.has(record(1, 'test'), record(2, 'ZGF0YQ=='));
    await subject.connect();
    await subject.connect();
    assert.equal(subject.given.length, 2);
    assert.deepEqual(subject.faults, []);
  });

  it('is text for a body that is not Base64, which is reported', async () => {
    const subject = createSubject({}, { facts: factsOf('base64') });
    await subject.connect();
    subject.has(record(1, 'this is no Base64'));
    await subject.connect();
    assert.deepEqual(subject.given, [['this is no Base64', 1]]);
    assert.match(
      subject.faults[0]!.text,
      /is not Base64, although others are, and was taken as text/,
    );
    subject.live('21.5');
    subject.has(record(2, 'MjEuNQ=='), record(3, '%%%'), record(4, 'bWlzc2Vk'));
    await subject.connect();
    assert.deepEqual(subject.given.slice(2), [
      ['%%%', 3],
      ['missed', 4],
    ]);
  });
});

describe('a record that may be an upload that arrived, or another one', () => {
  useClock();

  it('is left out after some time, and reported', async () => {
    const subject = createSubject();
    await subject.connect();
    subject.live('test');
    subject.has(record(1, 'test'), record(2, 'dGVzdA=='));
    await subject.connect();
    for (let minute = 0; minute < 10; minute++) {
      await pass(60_000);
    }
    assert.equal(subject.given.length, 1);
    assert.deepEqual(subject.kinds(), ['not given back']);
    assert.match(subject.faults[0]!.text, /^1 record of the history cannot be told apart/);
    subject.recovery.close();
  });
});

describe('the encoding of a history that is guessed from its bodies', () => {
  it('is Base64 if all bodies are, and decode to text or are padded', () => {
    assert.equal(guessEncoding(['MjEuNQ==', 'dGVzdGVk']), 'base64');
    assert.equal(guessEncoding(['bWlzc2Vk']), 'base64');
    assert.equal(guessEncoding(['/v7+', '/w==']), 'base64');
    assert.equal(guessEncoding(['/v7+', '/v7/', 'zMzM', 'qqqq']), 'base64');
  });

  it('is text otherwise', () => {
    for (const bodies of [[], [''], ['test'], ['1024', '2048'], ['MjEuNQ==', '21.5'], [null]])
      assert.equal(guessEncoding(bodies), 'text', JSON.stringify(bodies));
  });
});
