import assert from 'node:assert/strict';
import { createRecovery } from '../../../src/recovery/recovery';
import { LIMITS } from '../../../src/recovery/timing';
import { settled } from '../support/until';

describe('recovery that is closed by whoever takes an upload', () => {
  it('does not read the history once more for that upload', async () => {
    let readings = 0;
    const recovery = createRecovery({
      appid: '1',
      chipid: '1',
      encoding: 'text',
      read: () => {
        readings++;
        return Promise.resolve([]);
      },
      fence: (passed) => passed(),
      emit: () => recovery.close(),
      fault: (text) => assert.fail(text),
      start: { id: '0', live: 0 },
      // The very first upload makes a reading due.
      limits: { ...LIMITS, arrived: 0 },
      now: () => 0,
      random: () => 0,
    });
    recovery.onConnected();
    await settled();
    recovery.onUpload({ chipid: '1', appid: '1', timestamp: 0, body: Buffer.from('x') });
    await settled();
    assert.equal(readings, 1);
  });
});
