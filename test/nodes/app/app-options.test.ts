import assert from 'node:assert/strict';
import { commonSettings, readSettings } from '../../../nodes/app/options';

describe('the settings of an application that its client gets', () => {
  const settingsOf = (saved: object) => commonSettings(readSettings(saved).config);

  it('have the first unit where none was saved, or it is invalid', () => {
    const units = [{}, { timestampUnit: 'h' }, { timestampUnit: 's' }];
    assert.deepEqual(
      units.map((settings) => settingsOf(settings).timestampUnit),
      ['ms', 'ms', 's'],
    );
  });

  it('have the order of pins that was typed', () => {
    const orders = [{}, { pins: '' }, { pins: 'position' }];
    assert.deepEqual(
      orders.map((settings) => settingsOf(settings).pins),
      ['auto', 'auto', 'position'],
    );
  });

  it('are the numbers that were typed, durations in ms, and the defaults where none was', () => {
    const numbers = ({ timeout, heartbeat, ping, deviceGap }: ReturnType<typeof settingsOf>) => ({
      ...{ timeout, heartbeat, ping, deviceGap },
    });
    const usual = { timeout: 15_000, heartbeat: 300_000, ping: 30_000, deviceGap: 0 };
    assert.deepEqual(numbers(settingsOf({})), usual);
    const typed = { timeout: '1', heartbeat: '2', ping: '3', deviceGap: '5' };
    const read = { timeout: 1000, heartbeat: 2000, ping: 3000, deviceGap: 5 };
    assert.deepEqual(numbers(settingsOf(typed)), read);
  });
});
