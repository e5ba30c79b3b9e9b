import assert from 'node:assert/strict';
import { Positions } from '../../nodes/listen/positions';
import { settled, until } from '../../tooling/until';
import { keptWith } from './support/kept-in-memory';

const unexpected = (error: unknown): void => assert.ifError(error);
const never = new AbortController().signal;

describe('the kept positions of a listener', () => {
  const written: unknown[] = [];
  const write = (value: object): Promise<void> => Promise.resolve(void written.push(value));

  beforeEach(() => (written.length = 0));

  it('are restored, except for invalid ones', async () => {
    const saved = { '1': { id: '7', live: 2 }, '2': { id: 'x', live: 0 }, '3': null };
    const kept = keptWith({ read: () => Promise.resolve(saved) });
    const positions = await Positions.read(kept, unexpected, never);
    assert.deepEqual(
      ['1', '2', '3'].map((chipid) => positions.get(chipid)),
      [saved['1'], undefined, undefined],
    );
  });

  it('are written at a close, as far as the messages were passed on', async () => {
    const kept = keptWith({ write });
    const positions = await Positions.read(kept, unexpected, never);
    positions.set('1', () => ({ id: '1', live: 1 }));
    positions.set('1', () => ({ id: '1', live: 2 }));
    assert.deepEqual(positions.get('1'), { id: '1', live: 2 });
    // Still the same turn.
    await Promise.resolve();
    assert.deepEqual(written, []);
    await settled();
    positions.set('2', () => ({ id: '1', live: 1 }));
    await settled(1);
    positions.set('1', () => ({ id: '1', live: 3 }));
    await Promise.resolve();
    positions.close();
    await kept.close();
    await settled();
    assert.deepEqual(written.at(-1), { '1': { id: '1', live: 2 }, '2': { id: '1', live: 1 } });
  });

  it('are awaited while the store cannot be read, until the node is closed', async () => {
    const failures: unknown[] = [];
    const closing = new AbortController();
    const kept = keptWith({ read: () => Promise.reject(new Error('not connected')) });
    const waiting = Positions.read(kept, (error) => failures.push(error), closing.signal);
    await until(() => failures.length === 1, 'the failure is noticed');
    closing.abort();
    const positions = await waiting;
    assert.equal(positions.get('1'), undefined);
    assert.equal(failures.length, 1);
  });
});
