import assert from 'node:assert/strict';
import { HandOvers, type SharedWaiting } from '../../../src/cluster/hand-over';
import { SavedCalls } from '../../../src/commands/saved-call';
import { DeviceCloudError } from '../../../src/errors';
import { MEMORY, Store } from '../../../src/store/store';

describe('a command that waits', () => {
  it('is refused if it is larger than 1 MiB with its message, also by the process of its device', async () => {
    const calls = new SavedCalls(new Store(MEMORY));
    const waiting: SharedWaiting = {
      calls,
      callOf: () => assert.fail('it is carried out'),
      onOrphan: () => undefined,
    };
    const handOvers = new HandOvers(waiting, {
      calls: { call: () => assert.fail('it is handed over'), ask: () => assert.fail() },
      ...{ member: 'a', members: () => ['a'] },
      make: () => assert.fail('it is made'),
    });
    const saved = calls.add('node', ['1'], () => ({ msg: { extra: 'x'.repeat(2 ** 20) } }));
    const handedOver = handOvers.handOver('1', saved, {
      ...{ longest: 1000, signal: undefined, progress: undefined },
      whenFree: (call) => call(),
    });
    await assert.rejects(handedOver, (error: unknown) => {
      assert.ok(error instanceof DeviceCloudError);
      assert.equal(error.code, 'INVALID_INPUT');
      assert.match(error.message, /kept with its message, .*1 MiB/);
      return true;
    });
  });
});
