import assert from 'node:assert/strict';
import { Budget, Budgets, LIMITS } from '../../../src/recovery/limits';
import { DeviceCloudError } from '../../../src/errors';
import { settled } from '../../tooling/until';
import { connected, createSubject, type Given, record } from './subject';
import { pass, useClock } from '../../support/clock';

const MEBIBYTE = 1024 * 1024;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** A history that answers when a test says so. */
function slowHistory() {
  const answers: ((records: unknown[]) => void)[] = [];
  return {
    read: () => new Promise<unknown[]>((resolve) => answers.push(resolve)),
    asked: (): number => answers.length,
    async answer(...records: unknown[]): Promise<void> {
      answers.shift()?.(records);
      await settled();
    },
  };
}

const START = { start: { id: '0' } };

describe('live uploads that are held back while the history is read', () => {
  useClock();

  it('use at most 8 MiB per device; what was dropped is recovered from the history, in order', async () => {
    const history = slowHistory();
    const budgets = new Budgets();
    const subject = await connected([], START, { answer: history.read, budgets });
    const bodies = Array.from(LETTERS).map((letter) => letter.repeat(MEBIBYTE));
    let most = 0;
    for (const body of bodies) {
      subject.live(body);
      most = Math.max(most, budgets.held.used);
    }
    assert.ok(most > 6 * MEBIBYTE && most <= LIMITS.heldBytes, `${most} bytes`);
    const records = bodies.map((body, index) => record(index + 1, body));
    // What was answered while uploads were dropped is not trusted.
    await history.answer(...records.slice(0, 3));
    assert.equal(subject.given.length, 0);
    await pass(1000);
    await history.answer(...records);
    assert.equal(subject.given.map(([body]) => body[0]).join(''), LETTERS);
    assert.equal(budgets.held.used, 0);
  });

  it('use at most 64 MiB per application, shared by its devices', async () => {
    const budgets = new Budgets();
    const devices = Array.from({ length: 10 }, () => {
      const history = slowHistory();
      const subject = createSubject(START, { answer: history.read, budgets });
      return { history, subject };
    });
    const body = (round: number): string => `${round}`.repeat(MEBIBYTE);
    for (const { subject } of devices) await subject.connect();
    for (let round = 0; round < 7; round++) {
      for (const { subject } of devices) subject.live(body(round));
      assert.ok(budgets.held.used <= 64 * MEBIBYTE);
    }
    // The last one has had no room.
    const { history, subject } = devices.at(-1)!;
    const all = Array.from({ length: 7 }, (_, round) => record(round + 1, body(round)));
    for (const answered of [0, 7]) {
      await history.answer(...all);
      assert.equal(subject.given.length, answered);
      await pass(1000);
    }
    assert.equal(subject.given.map(([text]) => text[0]).join(''), '0123456');
    for (const each of devices) each.subject.recovery.close();
    assert.equal(budgets.held.used, 0);
  });

  it('are not held back for long by other answers that fill the memory', async () => {
    const answers = new Budget(1000);
    const subject = createSubject(START, { budgets: Object.assign(new Budgets(), { answers }) });
    subject.has(record(1, 'x'.repeat(2000)));
    // Another device's answer waits; this one needs all of the budget.
    answers.reserve(1);
    await subject.connect();
    assert.equal(subject.given.length, 0);
    answers.release(1);
    await subject.connect();
    assert.equal(subject.given.length, 1);
    assert.equal(answers.used, 0);
    subject.recovery.close();
  });

  it('go on after a minute without an answer, which is said; what was missed comes late, once', async () => {
    const history = slowHistory();
    const subject = await connected([], START, { answer: history.read });
    subject.live('live');
    await pass(59_999);
    assert.deepEqual(subject.given, []);
    await pass(1);
    assert.deepEqual(subject.given, [['live', 'live'] satisfies Given]);
    assert.match(subject.faults[0]?.text ?? '', /could not be read in time: missed .* come late/);
    await history.answer(record(1, 'missed'), record(2, 'live'));
    assert.deepEqual(subject.given.slice(1), [['missed', 1]]);
    subject.recovery.close();
  });

  it('continue after five failures of the history, which the log has once, and which is then read less and less often', async () => {
    const error = new DeviceCloudError('SERVER_ERROR', 'overloaded', 503);
    const subject = createSubject(START, { random: () => 0, answer: () => Promise.reject(error) });
    const { readings } = subject;
    await subject.connect();
    subject.live('live');
    assert.equal(subject.faults.length, 0);
    const pauses: number[] = [];
    for (let round = 0, since = 0; pauses.length < 7 && round < 2000; round++, since += 100) {
      const before = readings();
      await pass(100, 3);
      if (readings() === before) continue;
      pauses.push(since);
      since = 0;
    }
    assert.deepEqual(subject.given, [['live', 'live'] satisfies Given]);
    assert.deepEqual(
      subject.faults.map(({ kind }) => kind),
      ['recovery failed SERVER_ERROR 503', 'late'],
    );
    assert.ok(pauses[0]! >= 400 && pauses.at(-1)! >= 14_000, pauses.join());
    // Nor does a channel that comes and goes hammer it, or hold live uploads back.
    const before = readings();
    for (let round = 0; round < 20; round++) await subject.connect();
    subject.live('live too');
    assert.equal(readings(), before);
    assert.equal(subject.given.length, 2);
    subject.recovery.close();
  });
});

describe('frames that cannot be read', () => {
  useClock();

  it('do not restart a reading that is under way, nor keep live uploads waiting', async () => {
    const history = slowHistory();
    const subject = await connected([], START, { answer: history.read });
    subject.live('a');
    subject.recovery.onGap();
    subject.live('b');
    subject.recovery.onGap();
    assert.equal(history.asked(), 1);
    await history.answer(record(1, 'a'), record(2, 'unreadable'), record(3, 'b'));
    assert.deepEqual(subject.given, [
      ['a', 'live'],
      ['unreadable', 2],
      ['b', 'live'],
    ]);
    subject.recovery.close();
  });

  it('cause nothing to be emitted twice while a history with a bad record is read', async () => {
    for (const bad of [record(2, null), record(null, 'b')]) {
      const history = slowHistory();
      const subject = await connected([], START, { answer: history.read });
      for (const body of ['a', 'b', 'c']) subject.live(body);
      for (let reading = 0; reading < 2; reading++) {
        await history.answer(record(0, 'before'), record(1, 'a'), bad, record(3, 'c'));
        await pass(1000);
      }
      assert.deepEqual(
        subject.given.map(([, id]) => id),
        ['live', 'live', 'live'],
      );
      subject.recovery.close();
    }
  });

  it('cause readings of the history at least a second apart, and up to half a minute, however many arrive', async () => {
    const subject = await connected([record(0, 'old')], START, { random: () => 0 });
    const at: number[] = [];
    for (let time = 0, before = subject.readings(); time < 120_000; time += 50) {
      for (let frame = 0; frame < 10; frame++) subject.recovery.onGap();
      await pass(50, 2);
      if (subject.readings() > before) at.push(time);
      before = subject.readings();
    }
    const gaps = at.map((time, index) => time - (at[index - 1] ?? 0));
    assert.ok(
      gaps.every((gap) => gap >= 950),
      gaps.join(),
    );
    assert.ok(gaps.at(-1)! >= 14_000 && gaps.length < 15, gaps.join());
    // With one that can be read it is once more as at first.
    subject.live('x');
    await pass(30_000);
    const before = subject.readings();
    subject.recovery.onGap();
    await pass(1100);
    assert.equal(subject.readings(), before + 1);
    subject.recovery.close();
  });
});
