import assert from 'node:assert/strict';
import type { RecoveryObserver } from '../../../src/recovery/options';
import { createSubject, factsOf } from '../recovery/subject';
import { settled } from '../../tooling/until';

const record = (id: number, body: string) => ({
  ...{ id, body, app: '1', dev: '1' },
  create_time: `2026-01-01 00:00:${String(id).padStart(2, '0')}`,
});

/** A recovery, and the calls of its observer. */
function observed() {
  const calls: string[] = [];
  const observer: RecoveryObserver = {
    onRecovering: () => void calls.push('recovering'),
    onHold: () => undefined,
    onReplayed: ({ body }, isLast) => void (isLast && calls.push(body.toString())),
    onRecovered: (_chipid, count) => void calls.push(`recovered ${count}`),
  };
  return { calls, ...createSubject({}, { observer, facts: factsOf('text') }) };
}

describe('what a recovery reports to its observer', () => {
  it('is nothing of the first connection, and then each gap with what was missed', async () => {
    const { recovery, calls, has } = observed();
    has(record(1, 'before'));
    recovery.onState('connected');
    await settled();
    assert.deepEqual(calls, []);
    recovery.onState('disconnected', '1006');
    has(record(1, 'before'), record(2, 'missed 1'), record(3, 'missed 2'));
    recovery.onState('connected');
    assert.deepEqual(calls, ['recovering']);
    await settled();
    // The last one alone: it is the latest of the device.
    assert.deepEqual(calls, ['recovering', 'missed 2', 'recovered 2']);
    recovery.onState('disconnected', '1006');
    recovery.onState('connected');
    await settled();
    assert.deepEqual(calls.slice(3), ['recovering', 'recovered 0']);
    recovery.close();
    assert.equal(calls.length, 5);
  });

  it('is one recovery, even if the channel is lost during it', async () => {
    const { recovery, calls, has } = observed();
    recovery.onState('connected');
    await settled();
    recovery.onState('disconnected', '1006');
    has(record(1, 'missed'));
    for (let times = 0; times < 3; times++) {
      recovery.onState('connected');
      recovery.onState('disconnected', '1006');
    }
    recovery.onState('connected');
    await settled();
    assert.deepEqual(calls, ['recovering', 'missed', 'recovered 1']);
    recovery.close();
  });

  it('is the end of a recovery that is closed', async () => {
    const { recovery, calls } = observed();
    recovery.onState('connected');
    await settled();
    recovery.onState('disconnected', '1006');
    recovery.onState('connected');
    recovery.close();
    await settled();
    assert.deepEqual(calls, ['recovering', 'recovered 0']);
  });
});
