import assert from 'node:assert/strict';
import { IsolatedListener } from '../../../src/channel/listener';
import { Recovery } from '../../../src/recovery/recovery';
import { LIMITS } from '../../../src/recovery/options';
import { sharedBy } from './shared';
import { settled } from '../../../tooling/until';

describe('a recovery that is closed by the listener of an upload', () => {
  it('does not read the history once more for that upload', async () => {
    let readings = 0;
    const recovery = new Recovery(
      {
        ...sharedBy(() => {
          readings++;
          return Promise.resolve([]);
        }),
        // The very first upload makes a reading due.
        limits: { ...LIMITS, arrived: 0 },
      },
      {
        ...{ chipid: '1', zone: 0, start: { id: '0', live: 0 } },
        saves: false,
        save: () => undefined,
        flush: (passed) => passed(),
        listener: new IsolatedListener({
          onUpload: () => recovery.close(),
          onFault: (text) => assert.fail(text),
        }),
      },
    );
    recovery.onState('connected');
    await settled();
    recovery.onUpload({ chipid: '1', appid: '1', timestamp: 0, body: Buffer.from('x') });
    await settled();
    assert.equal(readings, 1);
  });
});
