import assert from 'node:assert/strict';
import { settled } from '../../../tooling/until';
import { manual } from '../support/manual';
import { createSubject, record } from './subject';

describe('the recovery of a device that processes share', () => {
  it('emits nothing before there is a position, which precedes what arrived meanwhile', async () => {
    const answer = manual<unknown[]>();
    const positions: string[] = [];
    const subject = createSubject(
      { isShared: true, save: (position) => positions.push(position().id) },
      { answer: () => answer.promise },
    );
    await subject.connect();
    subject.live('a');
    subject.live('b');
    assert.deepEqual(subject.given, []);
    answer.resolve([record(1, 'a'), record(2, 'old'), record(3, 'a')]);
    await settled();
    assert.deepEqual(subject.given, [
      ['a', 'live'],
      ['b', 'live'],
    ]);
    assert.deepEqual([positions[0], positions.at(-1)], ['2', '3']);
  });

  it('emits what it holds when the channel is lost before the first reading', async () => {
    const subject = createSubject(
      { isShared: true },
      { answer: () => manual<unknown[]>().promise },
    );
    await subject.connect();
    subject.live('a');
    subject.recovery.onState('disconnected');
    assert.deepEqual(subject.given, [['a', 'live']]);
  });
});
