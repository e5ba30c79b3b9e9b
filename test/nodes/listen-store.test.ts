import assert from 'node:assert/strict';
import { contextPositions } from '../../nodes/listen/positions';
import { nodeWith, type Callback } from './support/context-store';
import { settled, until } from '../../tooling/until';

const unexpected = (error: unknown): void => assert.ifError(error);
const never = new AbortController().signal;

describe('the positions of a listener in a context store', () => {
  it('are restored, except for invalid ones', async () => {
    const saved = { '1': { id: '7', live: 2 }, '2': { id: 'x', live: 0 }, '3': null };
    const node = nodeWith({ get: (callback) => callback(null, saved) });
    const positions = await contextPositions(node, unexpected, never);
    assert.deepEqual(
      ['1', '2', '3'].map((chipid) => positions.get(chipid)),
      [saved['1'], undefined, undefined],
    );
  });

  it('are written one write at a time, which includes all changes since the last', async () => {
    const written: unknown[] = [];
    const writes: Callback[] = [];
    const set = (value: unknown, callback: Callback): void => {
      written.push(value);
      writes.push(callback);
    };
    const node = nodeWith({ get: (callback) => callback(null, undefined), set });
    const positions = await contextPositions(node, unexpected, never);
    for (let live = 1; live <= 100; live++) {
      positions.set('1', { id: '1', live });
      await settled(1);
    }
    const closed = positions.close();
    await until(() => {
      writes.shift()?.(null);
      return written.length === 2;
    });
    writes.shift()?.(null);
    await closed;
    assert.deepEqual(written, [{ '1': { id: '1', live: 1 } }, { '1': { id: '1', live: 100 } }]);
  });

  it('are written in the next turn, and not if Node-RED is stopped before it passes the message on', async () => {
    const written: unknown[] = [];
    const set = (value: unknown, callback: Callback): void => {
      written.push(value);
      callback(null);
    };
    const node = nodeWith({ get: (callback) => callback(null, undefined), set });
    const positions = await contextPositions(node, unexpected, never);
    positions.set('1', { id: '1', live: 1 });
    positions.set('1', { id: '1', live: 2 });
    assert.deepEqual(positions.get('1'), { id: '1', live: 2 });
    // Still the same turn.
    await Promise.resolve();
    assert.deepEqual(written, []);
    await settled();
    positions.set('1', { id: '1', live: 3 });
    await Promise.resolve();
    await positions.close();
    await settled();
    assert.deepEqual(written, [{ '1': { id: '1', live: 2 } }]);
  });

  it('report a failed write, and try again with the next one', async () => {
    const failures: unknown[] = [];
    const written: unknown[] = [];
    const set = (value: unknown, callback: Callback): void => {
      written.push(value);
      callback(written.length === 1 ? new Error('disk full') : null);
    };
    const node = nodeWith({ get: (callback) => callback(null, undefined), set });
    const positions = await contextPositions(node, (error) => failures.push(error), never);
    positions.set('1', { id: '1', live: 1 });
    await settled();
    positions.set('1', { id: '1', live: 2 });
    await settled();
    assert.equal(failures.length, 1);
    assert.deepEqual(written.at(-1), { '1': { id: '1', live: 2 } });
  });

  it('are awaited while the store cannot be read, until the node is closed', async () => {
    const failures: unknown[] = [];
    const closing = new AbortController();
    const node = nodeWith({ get: (callback) => callback(new Error('not connected')) });
    const waiting = contextPositions(node, (error) => failures.push(error), closing.signal);
    await until(() => failures.length === 1, 'the failure is noticed');
    closing.abort();
    const positions = await waiting;
    assert.equal(positions.get('1'), undefined);
    assert.equal(failures.length, 1);
  });
});
