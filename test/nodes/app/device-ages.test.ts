import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { toChoices } from '../../../nodes/app/answers';
import type { DeviceRecord } from '../../../src/index';

const record = (latest: unknown): DeviceRecord =>
  ({ chipid: '1', name: null, latest, vertype: 1 }) as DeviceRecord;

describe('the age that the list of devices shows', () => {
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1, 1, 17, 12) }));
  afterEach(() => mock.timers.reset());

  const AGES: [latest: unknown, zone: string, clockSkew: number | undefined, age: number | null][] =
    [
      ['2026-01-01 09:17:00', '+08:00', undefined, 12],
      ['2026-01-01 01:17:00', '+00:00', undefined, 12],
      ['2026-01-01 09:27:00', '+08:00', 600_000, 12],
      ['2026-01-01 09:17:40', '+08:00', 0, 0],
      ['2026-01-01 09:17:00', '+00:00', 0, null],
      ['2026-13-01 09:17:00', '+08:00', 0, null],
      ['2026-01-01', '+08:00', 0, null],
      [1767230220, '+08:00', 0, null],
      [undefined, '+08:00', 0, null],
    ];
  for (const [latest, zone, clockSkew, age] of AGES) {
    it(`is ${age} for ${String(latest)} in ${zone}, with a clock ${clockSkew ?? 'unknown'} ms ahead`, () => {
      assert.equal(toChoices([record(latest)], { clockSkew, historyZone: zone })[0]!.age, age);
    });
  }
});

describe('the list of devices', () => {
  it('shows a record of any kind, unless it names no device', () => {
    const odd = { toString: null };
    const records = [{ chipid: '007', name: odd, latest: odd, vertype: odd }, { chipid: odd }];
    const [only, ...others] = toChoices(records as unknown as DeviceRecord[], {
      clockSkew: 0,
      historyZone: '+08:00',
    });
    assert.deepEqual(only, { chipid: '7', name: null, latest: odd, age: null, vertype: odd });
    assert.deepEqual(others, []);
  });
});
