import assert from 'node:assert/strict';
import type { RecoveryObserver } from '../../../src/recovery/options';
import { createSubject, factsOf } from '../recovery/subject';
import { MAX_HOLD } from '../../../src/recovery/recovery';
import { pass, useClock } from '../../support/clock';
import { settled } from '../../tooling/until';

const record = (id: number, body: string) => ({
  ...{ id, body, app: '1', dev: '1' },
  create_time: `2026-01-01 00:00:${String(id).padStart(2, '0')}`,
});

/** A recovery, and the calls of its observer. */
function observed() {
  const calls: string[] = [];
  const emitted: string[] = [];
  let holding = 0;
  let mayEmit = true;
  const observer: RecoveryObserver = {
    onRecovering: () => void calls.push('recovering'),
    onHold: (_chipid, isHolding) => (holding += isHolding ? 1 : -1),
    onEmitted: ({ body }, isLast) => {
      emitted.push(body.toString());
      if (isLast) calls.push(body.toString());
    },
    onRecovered: (_chipid, count) => void calls.push(`recovered ${count}`),
  };
  const guard = { mayEmit: () => mayEmit, send: () => assert.fail('a command') };
  return {
    ...{ calls, emitted, holding: () => holding, shut: () => (mayEmit = false) },
    ...createSubject({}, { observer, guard, facts: factsOf('text') }),
  };
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

  it('is what it has held back, when it emits it, and not what comes live', async () => {
    const { recovery, emitted, holding, has, live } = observed();
    recovery.onState('connected');
    await settled();
    recovery.onState('disconnected', '1006');
    has(record(1, 'missed'), record(2, 'held'));
    recovery.onState('connected');
    live('held');
    assert.deepEqual([emitted, holding()], [[], 1]);
    await settled();
    live('live');
    assert.deepEqual([emitted, holding()], [['missed', 'held'], 0]);
    recovery.close();
  });
});

describe('what a recovery reports of its holding back', () => {
  useClock();

  it('is one end for each beginning, also if nothing may be emitted when its time is over', async () => {
    const { recovery, holding, shut } = observed();
    recovery.onState('connected');
    await pass(0);
    recovery.onState('disconnected', '1006');
    recovery.onState('connected');
    assert.equal(holding(), 1);
    shut();
    await pass(MAX_HOLD);
    assert.equal(holding(), 1);
    recovery.close();
    assert.equal(holding(), 0);
  });
});
