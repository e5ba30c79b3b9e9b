import assert from 'node:assert/strict';
import { commonSettings, type AppSettings } from '../../../nodes/app/options';

describe('the settings of an application that its client gets', () => {
  const choices = (settings: AppSettings): unknown[] => {
    const { timestampUnit, postParameters, signCase } = commonSettings(settings);
    return [timestampUnit, postParameters, signCase];
  };

  it('fall back to the defaults where an earlier version saved nothing, or the value is invalid', () => {
    const usual = ['ms', 'body', 'unicode'];
    assert.deepEqual(choices({}), usual);
    const odd = { timestampUnit: 'h', postParameters: '', signCase: null };
    assert.deepEqual(choices(odd as unknown as AppSettings), usual);
  });

  it('are the numbers that were typed, durations in ms, and the defaults where none was', () => {
    const numbers = ({ timeout, heartbeat, ping, connections, deviceGap }: AppSettings) => ({
      ...{ timeout, heartbeat, ping, connections, deviceGap },
    });
    const usual = {
      timeout: 15_000,
      heartbeat: 300_000,
      ping: 30_000,
      connections: 64,
      deviceGap: 0,
    };
    assert.deepEqual(numbers(commonSettings({})), usual);
    const typed = { timeout: '1', heartbeat: '2', ping: '3', connections: '4', deviceGap: '5' };
    const read = { timeout: 1000, heartbeat: 2000, ping: 3000, connections: 4, deviceGap: 5 };
    assert.deepEqual(numbers(commonSettings(typed)), read);
  });

  it('are those that were chosen', () => {
    const chosen: AppSettings = { timestampUnit: 's', postParameters: 'query', signCase: 'ascii' };
    assert.deepEqual(choices(chosen), ['s', 'query', 'ascii']);
  });
});
