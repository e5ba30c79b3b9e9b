import assert from 'node:assert/strict';
import { channelsStatus, type DeviceState } from '../../nodes/listen/channels-status';
import { catalogue } from '../src/support/catalogues';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const NOW = Date.UTC(2026, 0, 1);

const device = (age?: number): DeviceState => ({
  state: 'connected',
  reason: undefined,
  lastUpload: age === undefined ? undefined : NOW - age,
});
const shown = (...devices: DeviceState[]): string => channelsStatus(devices, NOW).text ?? '';

describe('the status of a listener says how long ago the last upload was', () => {
  const AGES: [age: number | undefined, english: string][] = [
    [undefined, 'connected'],
    // The clock was set back.
    [-5 * MINUTE, 'connected'],
    [59 * SECOND, 'connected'],
    [MINUTE, 'upload 1 min ago'],
    [HOUR - 1, 'upload 59 min ago'],
    [HOUR, 'upload 1 h ago'],
    [DAY - 1, 'upload 23 h ago'],
    [DAY, 'upload 1 d ago'],
    [99 * DAY, 'upload 99 d ago'],
    [400 * DAY, 'upload 99+ d ago'],
  ];
  for (const [age, english] of AGES) {
    it(`as "${english}" after ${age} ms`, () => {
      assert.equal(catalogue('listen', 'en-US')[shown(device(age))], english);
      assert.ok(catalogue('listen', 'zh-CN')[shown(device(age))]);
      assert.ok(english.length < 20);
    });
  }

  it('only for a single device that is connected', () => {
    assert.equal(shown(device(DAY), device(DAY)), '2/2');
    const down = { ...device(DAY), state: 'disconnected' as const };
    assert.equal(shown(down), 'status.disconnected');
  });
});
