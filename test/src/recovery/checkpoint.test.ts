import assert from 'node:assert/strict';
import { Budget, Budgets } from '../../../src/recovery/options';
import { Checkpoint } from '../../../src/recovery/position';
import { LIMITS } from '../../../src/recovery/options';
import { settled } from '../../../tooling/until';
import { createSubject, record } from './subject';

describe('the arrivals after which the history is read again', () => {
  it('are 500 at first, and half of a deeper history up to 5,000', () => {
    const checkpoint = new Checkpoint(500);
    assert.equal(checkpoint.due(false), 500);
    checkpoint.read(100, false);
    assert.equal(checkpoint.due(false), 500);
    checkpoint.read(6000, false);
    assert.equal(checkpoint.due(false), 3000);
    checkpoint.read(200_000, false);
    assert.equal(checkpoint.due(false), 5000);
  });

  it('are half of a history that reaches back no further than that, from then on', () => {
    const checkpoint = new Checkpoint(500);
    checkpoint.read(300, true);
    checkpoint.read(300, false);
    assert.equal(checkpoint.due(false), 150);
  });

  it('are fewer while all devices together remember too many, so that none is abandoned', async () => {
    const budgets = Object.assign(new Budgets(), { arrived: new Budget(40) });
    const limits = { ...LIMITS, arrived: 16 };
    const start = { id: '0', live: 0, form: 'text' as const };
    const devices = Array.from({ length: 10 }, () => createSubject({ start }, { budgets, limits }));
    for (const { connect } of devices) await connect();
    const records: object[] = [];
    for (let id = 1; id <= 40; id++) {
      records.push(record(id, `upload ${id}`));
      for (const { has, live } of devices) {
        has(...records);
        live(`upload ${id}`);
        await settled(1);
      }
    }
    assert.deepEqual(
      devices.flatMap(({ faults }) => faults),
      [],
    );
    assert.ok(devices.every(({ given }) => given.length === 40));
    assert.ok(budgets.arrived.used <= 40, `${budgets.arrived.used} remembered`);
  });
});
