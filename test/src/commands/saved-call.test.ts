import assert from 'node:assert/strict';
import { endOf, SavedCalls, type SavedCall } from '../../../src/commands/saved-call';
import type { Entries } from '../../../src/store/store';
import { MemoryPort, memoryStore } from '../../support/memory-store';

const CHIPID = '10000001';
const WAIT = { left: 60_000, at: 1, process: '', ran: 0 };

/** Cannot write that a command begins. */
class LossyPort extends MemoryPort {
  override write(unit: string, changes: Entries): Promise<boolean> {
    const begins = [...changes.values()].some((value) => (value as { isBegun?: boolean })?.isBegun);
    return begins ? Promise.reject(new Error('away')) : super.write(unit, changes);
  }
}

describe('a command that an earlier process has left', () => {
  it('may have acted if it cannot be read how it has ended', async () => {
    const ended = { order: 1, node: 'node', what: 'what', isBegun: true };
    for (const end of ['x', null, {}, { code: 'EXPIRED' }, { error: 'TIMEOUT' }, { error: {} }]) {
      const port = new MemoryPort();
      port.kept.set(`command:${CHIPID}:x`, JSON.stringify({ ...WAIT, ...ended, end }));
      const store = memoryStore(port);
      await store.loaded;
      const saved = new SavedCalls(store).take()[0]?.of(CHIPID);
      const found = saved && endOf(saved, CHIPID);
      assert.ok(found && 'error' in found && found.error.code === 'TIMEOUT', JSON.stringify(end));
    }
  });
});

describe('a command that several processes share', () => {
  const callOn = async (port: MemoryPort): Promise<SavedCall> => {
    const store = memoryStore(port);
    await store.loaded;
    return new SavedCalls(store).add('node', [CHIPID], () => 'what', { member: 'a', id: 'x' });
  };

  it('is never sent unless the others can see that it has begun', async () => {
    const port = new LossyPort();
    const call = await callOn(port);
    await call.save(CHIPID, WAIT);
    await assert.rejects(call.begin(CHIPID), { code: 'UNREACHABLE' });
    assert.equal(port.kept.size, 1, 'the next process goes on with it');
  });

  it('is sent by one caller: not by one that has let go of it, nor once another has begun it', async () => {
    const port = new MemoryPort();
    const store = memoryStore(port);
    await store.loaded;
    const calls = new SavedCalls(store);
    const first = calls.add('node', [CHIPID], () => 'what');
    await first.save(CHIPID, WAIT);
    first.letGo();
    const second = calls.take()[0];
    await assert.rejects(first.begin(CHIPID), { code: 'UNREACHABLE' });
    await second?.begin(CHIPID);
    assert.equal(second?.of(CHIPID)?.isBegun, true);
    second?.letGo();
    await assert.rejects(calls.take()[0]?.begin(CHIPID) ?? Promise.resolve(), {
      code: 'UNREACHABLE',
    });
    second?.close();
    await assert.rejects(first.begin(CHIPID), { code: 'UNREACHABLE' }, 'it has ended');
  });

  it('does not count as waiting before it is with the others', async () => {
    const port = new MemoryPort();
    const call = await callOn(port);
    port.failure = new Error('away');
    let isSaved = false;
    const saving = call.save(CHIPID, WAIT).then(() => (isSaved = true));
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.equal(isSaved, false);
    port.failure = undefined;
    await saving;
    assert.equal(port.kept.size, 1);
  });

  it('is said to have ended once that is written', async () => {
    const port = new MemoryPort();
    const call = await callOn(port);
    await call.save(CHIPID, WAIT);
    port.failure = new Error('away');
    const end = { value: 'done' };
    assert.equal(await call.end(CHIPID, end), false);
    port.failure = undefined;
    assert.equal(await call.end(CHIPID, end), true);
    assert.match([...port.kept.values()].join(), /"end":\{"value":"done"\}/);
  });
});
