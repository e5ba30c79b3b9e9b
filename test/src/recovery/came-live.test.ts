import assert from 'node:assert/strict';
import type { Position, Upload } from '../../../src/index';
import { clientOf, keysOf, simulator } from '../support/client';
import { CHIPID } from '../support/listener';
import { settled, until } from '../../tooling/until';
import { connected, createSubject, record } from './subject';

describe('what came live', () => {
  it('is emitted as it came, although all bodies are one in the history, and the next gap follows at once', async () => {
    const service = await simulator({ dialect: 'public-2016' });
    const client = clientOf(service.baseUrl, { ...keysOf('public-2016'), random: () => 0.01 });
    const [arrived, uploads]: [string[], Upload[]] = [[], []];
    let position: Position | undefined;
    let opened = 0;
    // Joined first: it shows what has arrived, whatever recovery holds back.
    client.listen(CHIPID, {
      onUpload: ({ body }) => arrived.push(body.toString()),
      onState: (state) => (opened += Number(state === 'connected')),
    });
    client.listen(
      CHIPID,
      { onUpload: (upload) => uploads.push(upload) },
      { save: (saved) => (position = saved) },
    );
    await until(() => opened === 1 && position !== undefined, 'a first position');
    let count = 0;
    const upload = (): string => {
      const text = `{"n":${count++},"t":21,"h":40}`;
      service.upload(CHIPID, text);
      return text;
    };
    const live: string[] = [];
    for (let round = 1; round <= 6; round++) {
      for (let i = 0; i < 8; i++) live.push(upload());
      await until(() => arrived.length === live.length, 'they have arrived');
      service.disconnect(CHIPID);
      for (let i = 0; i < 3; i++) upload();
      await until(() => opened === round + 1, 'the channel is open again');
    }
    await until(() => uploads.length >= count, 'all are emitted');
    const given = uploads.filter(({ replayed }) => !replayed).map(({ body }) => body.toString());
    assert.deepEqual(given, live);
    const missed = uploads.filter(({ replayed, altered }) => replayed && altered);
    assert.deepEqual([uploads.length, missed.length], [66, 18]);
  });

  describe('while the first reading is under way', () => {
    /** A recovery whose first reading was requested before an upload came, and answered after it. */
    async function begun(shown: readonly object[], body: string) {
      let reply!: (records: readonly object[]) => void;
      const first = new Promise<readonly object[]>((resolve) => (reply = resolve));
      let history: readonly object[] | undefined;
      const answer = (): Promise<readonly object[]> => (history ? Promise.resolve(history) : first);
      const subject = await connected([], {}, { answer });
      subject.live(body);
      reply(shown);
      await settled();
      return Object.assign(subject, { shows: (...records: object[]) => void (history = records) });
    }

    const [zero, one, two] = [record(1, 'zero'), record(2, 'one'), record(3, 'two')];

    /** A first reading has answered, and the ping after it has not. */
    async function unanswered(...shown: unknown[]) {
      const subject = createSubject();
      let passed: (() => void) | undefined;
      const flush = (done: () => void): void => void (passed = done);
      Object.assign(subject.recovery.channel, { flush });
      await subject.reads(...shown);
      return { subject, answered: () => passed?.() };
    }

    /** Pings are answered, and what was missed after `one` has come back. */
    async function goesOn(subject: ReturnType<typeof createSubject>): Promise<void> {
      Object.assign(subject.recovery.channel, { flush: (passed: () => void) => passed() });
      await subject.reads(zero, one, two);
      subject.live('three');
      assert.deepEqual(subject.given, [
        ['one', 'live'],
        ['two', 3],
        ['three', 'live'],
      ]);
    }

    for (const isShown of [true, false])
      it(`does not keep what is missed next from coming back, ${isShown ? 'in' : 'not in'} the answer`, async () => {
        const subject = await begun(isShown ? [zero, one] : [zero], 'one');
        subject.recovery.onState('disconnected');
        subject.shows(zero, one, two);
        await subject.connect();
        subject.live('three');
        await settled();
        assert.deepEqual(subject.given, [
          ['one', 'live'],
          ['two', 3],
          ['three', 'live'],
        ]);
      });

    it('does not keep what a cut misses from coming back, although nothing shows that all has arrived', async () => {
      // A service that answers no pings is waited for.
      const { subject } = await unanswered(zero);
      subject.live('one');
      subject.recovery.onState('disconnected');
      await goesOn(subject);
    });

    it('proves nothing, although the answer was read before it came', async () => {
      const { subject, answered } = await unanswered(zero, one);
      subject.live('one');
      answered();
      await settled();
      await goesOn(subject);
      assert.deepEqual(subject.kinds(), []);
    });

    it('is not taken for an equal one that comes after it', async () => {
      const [on, again] = [record(1, 'on'), record(2, 'on')];
      const subject = await begun([on], 'on');
      subject.shows(on, again);
      subject.live('on');
      await subject.connect();
      // Nothing is missing, so that nothing is held back.
      subject.live('off');
      assert.deepEqual(subject.given, [
        ['on', 'live'],
        ['on', 'live'],
        ['off', 'live'],
      ]);
    });
  });

  it('follows equal ones that were missed before it, and each of these has its own id', async () => {
    for (const isThere of [true, false]) {
      const subject = createSubject();
      const on = [2, 3, 4, 5].map((id) => record(id, 'on', `2026-01-01 00:00:0${id}`));
      await subject.reads(record(1, 'off'));
      subject.live('on');
      subject.recovery.onState('disconnected');
      subject.has(record(1, 'off'), ...(isThere ? on : on.slice(0, 3)));
      subject.recovery.onState('connected');
      subject.live('on');
      await settled();
      await subject.reads(record(1, 'off'), ...on);
      assert.deepEqual(subject.given.slice(1, 4), [
        ['on', 3],
        ['on', isThere ? 4 : 'live'],
        ['on', isThere ? 'live' : 5],
      ]);
    }
  });

  it('precedes equal ones that were missed after it, although it came after an earlier gap', async () => {
    const subject = await connected([record(1, 'off')]);
    subject.live('on');
    subject.recovery.onState('disconnected');
    await subject.reads(...[1, 2, 3, 4].map((id) => record(id, id === 1 ? 'off' : 'on')));
    assert.deepEqual(subject.given, [
      ['on', 'live'],
      ['on', 3],
      ['on', 4],
    ]);
  });
});
