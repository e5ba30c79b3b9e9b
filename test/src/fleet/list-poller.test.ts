import assert from 'node:assert/strict';
import { asksToWait, DeviceCloudError } from '../../../src/errors';
import { ListPoller, type ListReading } from '../../../src/fleet/list-poller';
import type { DeviceRecord } from '../../../src/types';
import { manual, type Manual } from '../support/manual';
import { settled } from '../../tooling/until';
import { pass, useClock } from '../../support/clock';

const record = (chipid: unknown): DeviceRecord => ({ chipid, name: null }) as DeviceRecord;

/** A poller whose list a test answers by hand. */
function createSubject(now = Date.now) {
  const asked: Manual<DeviceRecord[]>[] = [];
  const taken: ListReading[] = [];
  const failed: unknown[] = [];
  const poller = new ListPoller({
    list() {
      const next = manual<DeviceRecord[]>();
      asked.push(next);
      return next.promise;
    },
    onReading: (reading) => taken.push(reading),
    onReadError: (error) => failed.push(error),
    now,
  });
  return {
    poller,
    taken,
    failed,
    readings: () => asked.length,
    async answer(...chipids: unknown[]): Promise<void> {
      asked.at(-1)?.resolve(chipids.map(record));
      await settled();
    },
    async fail(error = new Error('failed')): Promise<void> {
      asked.at(-1)?.reject(error);
      await settled();
    },
  };
}

/** A user that keeps what it is called with. */
function user() {
  const readings: string[][] = [];
  const errors: unknown[] = [];
  return {
    readings,
    errors,
    onReading: ({ devices }: ListReading) => void readings.push([...devices.keys()]),
    onReadError: (error: unknown) => void errors.push(error),
  };
}

describe('the poller of the list', () => {
  useClock();

  for (const days of [730, -730, 1, -1])
    it(`keeps to its interval though the clock is set by ${days} days, and back`, async () => {
      let ahead = 0;
      const subject = createSubject(() => Date.now() + ahead);
      const step = days * 86_400_000;
      subject.poller.poll(60_000, user());
      await subject.answer('1');
      for (const by of [step, -step]) {
        ahead += by;
        const before = subject.readings();
        // The turns are planned anew.
        subject.poller.poll(60_000, {})();
        for (let second = 0; second < 120; second++) {
          await pass(1000);
          await subject.answer('1');
        }
        const readings = subject.readings() - before;
        assert.ok(readings >= 2 && readings <= 4, `${readings} readings in two minutes`);
      }
    });

  it('polls once for all users, at the shortest of their intervals, and stops with the last', async () => {
    const subject = createSubject();
    const [slow, fast] = [user(), user()];
    const leaveSlow = subject.poller.poll(60_000, slow);
    await subject.answer('1');
    await pass(30_000);
    assert.equal(subject.readings(), 1);
    const leaveFast = subject.poller.poll(10_000, fast);
    assert.equal(subject.readings(), 2, 'a list for the one that joins');
    await subject.answer('2');
    await pass(0);
    assert.equal(subject.readings(), 3, 'the turn that is overdue now');
    await subject.answer('3');
    await pass(10_000);
    await subject.answer('4');
    assert.deepEqual(slow.readings, [['1'], ['2'], ['3'], ['4']]);
    assert.deepEqual(fast.readings, [['2'], ['3'], ['4']]);
    leaveFast();
    await pass(59_000);
    assert.equal(subject.readings(), 4);
    await pass(1000);
    await subject.answer();
    assert.equal(subject.readings(), 5);
    leaveSlow();
    await pass(1_000_000);
    assert.equal(subject.readings(), 5);
  });

  it('counts only its own readings as turns', async () => {
    const subject = createSubject();
    subject.poller.poll(10_000, {});
    await subject.answer();
    await pass(5000);
    const onDemand = subject.poller.read();
    await subject.answer();
    await onDemand;
    await pass(5000);
    await subject.answer();
    assert.deepEqual(
      subject.taken.map(({ polled }) => polled),
      [true, false, true],
    );
  });

  it('shares a reading among simultaneous requests, and those that accept its age', async () => {
    const subject = createSubject();
    const both = [subject.poller.read(), subject.poller.read()];
    await subject.answer('1', '007', { odd: true }, '1');
    const [first, second] = await Promise.all(both);
    assert.equal(first, second);
    assert.deepEqual([...first!.devices.keys()], ['1', '7']);
    assert.equal(first!.invalid, 1);
    await pass(5000);
    assert.equal(await subject.poller.read(5000), first);
    assert.equal(subject.readings(), 1);
    void subject.poller.read(4999);
    assert.equal(subject.readings(), 2);
  });

  it('reports a failed reading to its users, and continues', async () => {
    const subject = createSubject();
    const polling = user();
    subject.poller.poll(10_000, polling);
    await subject.fail();
    assert.deepEqual([polling.errors.length, subject.failed.length], [1, 1]);
    await pass(10_000);
    const asking = assert.rejects(subject.poller.read(), /failed/);
    await subject.fail();
    await asking;
    await pass(10_000);
    await subject.answer('1');
    assert.deepEqual(polling.readings, [['1']]);
  });

  it('reads the list no earlier than the service asks for, once', async () => {
    const subject = createSubject();
    subject.poller.poll(10_000, user());
    await subject.fail(asksToWait(new DeviceCloudError('UNEXPECTED_STATUS', 'busy'), 60_000));
    await pass(59_000);
    assert.equal(subject.readings(), 1);
    await pass(1000);
    assert.equal(subject.readings(), 2);
    await subject.answer('1');
    await pass(10_000);
    assert.equal(subject.readings(), 3);
  });

  it('continues if a callback of a user throws or leaves', async () => {
    const subject = createSubject();
    const other = user();
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    const leave = subject.poller.poll(10_000, {
      onReading: () => {
        leave();
        throw new Error('of a user');
      },
    });
    subject.poller.poll(10_000, other);
    await subject.answer('1');
    await pass(10_000);
    await subject.answer('2');
    process.off('warning', warn);
    assert.deepEqual(other.readings, [['1'], ['2']]);
    assert.equal(warnings.filter(({ message }) => message.includes('of a user')).length, 1);
  });

  it('calls nothing once it is closed, also in the middle of a reading', async () => {
    const subject = createSubject();
    const polling = user();
    subject.poller.poll(10_000, polling);
    const asking = assert.rejects(subject.poller.read(), { code: 'UNREACHABLE' });
    subject.poller.close();
    await subject.answer('1');
    await asking;
    await assert.rejects(subject.poller.read(), { code: 'UNREACHABLE' });
    subject.poller.poll(10_000, polling);
    await pass(1_000_000);
    assert.deepEqual([polling.readings, polling.errors, subject.taken], [[], [], []]);
    assert.equal(subject.readings(), 1);
  });
});
