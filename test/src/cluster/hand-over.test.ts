import assert from 'node:assert/strict';
import { HandOvers, type SharedWaiting } from '../../../src/cluster/hand-over';
import { SavedCalls, type SavedCall } from '../../../src/commands/saved-call';
import { DeviceCloudError } from '../../../src/errors';
import { MEMORY, Store, type StorePort } from '../../../src/store/store';

/** A process that hands over to itself. @param port where it keeps what waits */
function start(port: StorePort = MEMORY) {
  const calls = new SavedCalls(new Store(port));
  const orphans: SavedCall[] = [];
  const waiting: SharedWaiting = {
    calls,
    callOf: () => assert.fail('it is carried out'),
    onOrphan: (saved) => orphans.push(saved),
  };
  let count = 0;
  const handOvers = new HandOvers(waiting, {
    // It is written down, and waits.
    calls: {
      call: () => {
        count++;
        return Promise.resolve(null);
      },
      ask: () => assert.fail('it has ended'),
    },
    ...{ member: 'a', members: () => ['a'] },
    make: () => assert.fail('it is made'),
  });
  const give = (what: unknown): { saved: SavedCall; ended: Promise<unknown> } => {
    const saved = calls.add('node', ['1'], () => what);
    const ended = handOvers.handOver('1', saved, {
      ...{ longest: 1000, signal: undefined, progress: undefined },
      whenFree: (call) => call(),
    });
    return { saved, ended };
  };
  return { handOvers, orphans, give, count: () => count };
}

describe('a command that waits', () => {
  it('is refused if it is larger than 1 MiB with its message, also by the process of its device', async () => {
    const { give, count } = start();
    await assert.rejects(give({ extra: 'x'.repeat(2 ** 20) }).ended, (error: unknown) => {
      assert.ok(error instanceof DeviceCloudError);
      assert.equal(error.code, 'INVALID_INPUT');
      assert.match(error.message, /kept with its message, .*1 MiB/);
      return true;
    });
    assert.equal(count(), 0);
  });

  it('is known to have ended if that is said once more, since the answer was lost', async () => {
    const { handOvers, give } = start();
    const { saved, ended } = give('what');
    const id = `${saved.id}/1`;
    assert.equal(handOvers.ended(id, { value: 'done' }), true);
    assert.equal(await ended, 'done');
    assert.equal(handOvers.ended(id, { value: 'done' }), true);
    assert.equal(handOvers.ended('another', { value: 'done' }), false);
  });
});

describe('a command whose message is gone', () => {
  it('has ended, also if its device is another process’s before that is written', async () => {
    const { handOvers, orphans } = start({ ...MEMORY, write: () => Promise.resolve(false) });
    await handOvers.adopt('1', { node: 'node', what: 'what' }, { value: 'done' });
    assert.deepEqual(
      orphans.map((saved) => saved.of('1')?.end),
      [{ outcome: { value: 'done' } }],
    );
  });
});
