import assert from 'node:assert/strict';
import { MemoryStore } from './memory-store';
import { PositionWriter } from '../../../src/cluster/positions';
import { slotOf } from '../../../src/cluster/slots';
import { StoreError, type FencedEntry, type SaveOutcome } from '../../../src/cluster/store';
import { settled } from '../../../tooling/until';
import { manual, type Manual } from '../support/manual';
import { Process, VirtualTime } from './virtual-time';

/** A store whose writes end when a test says so. */
class SlowStore extends MemoryStore {
  readonly writes: { entries: readonly FencedEntry[]; answer: Manual<SaveOutcome[]> }[] = [];

  isArrived: (entry: FencedEntry) => boolean = () => false;

  override arrived(entries: readonly FencedEntry[]): Promise<boolean[]> {
    return Promise.resolve(entries.map(this.isArrived));
  }

  override save(_member: string, entries: readonly FencedEntry[]): Promise<SaveOutcome[]> {
    const answer = manual<SaveOutcome[]>();
    this.writes.push({ entries, answer });
    return answer.promise;
  }

  /** Ends the last write. */
  async answer(...outcomes: SaveOutcome[]): Promise<void> {
    this.writes.at(-1)?.answer.resolve(outcomes);
    await settled();
  }

  /** The positions of the last write. */
  get last(): string[] {
    return (this.writes.at(-1)?.entries ?? []).map(({ chipid, position }) => chipid + position);
  }
}

describe('the writer of positions', () => {
  let time: VirtualTime;
  let store: SlowStore;
  let writer: PositionWriter;
  let epochs: Map<number, number>;
  let calls: string[];

  beforeEach(() => {
    time = new VirtualTime();
    store = new SlowStore();
    epochs = new Map(['1', '2', '3'].map((chipid) => [slotOf(chipid), 1]));
    calls = [];
    writer = new PositionWriter({
      ...{ store, clock: new Process(time, 1).clock, member: 'm' },
      membership: {
        slots: { epochOf: (slot) => epochs.get(slot) },
        fenced: (slot) => {
          calls.push('fenced');
          epochs.delete(slot);
          writer.forget(slot);
        },
        beatSoon: () => calls.push('behind'),
      },
      written: () => calls.push('written'),
      failed: () => undefined,
    });
  });

  const save = async (chipid: string, position: string): Promise<void> => {
    writer.save(chipid, position);
    await settled();
  };

  it('writes once at a time, and then the latest of everything that has changed', async () => {
    await save('1', 'a');
    await save('1', 'b');
    await save('2', 'a');
    await save('1', 'c');
    await save('99', 'not held');
    assert.deepEqual([store.writes.length, store.last], [1, ['1a']]);
    await store.answer('saved');
    assert.deepEqual([store.writes.length, store.last], [2, ['1c', '2a']]);
    await store.answer('saved', 'saved');
    assert.equal(store.writes.length, 2);
  });

  it('is late if a write takes longer than 250 ms, retries included', async () => {
    await save('1', 'a');
    await time.runTo(249);
    assert.equal(writer.isPrompt, true);
    store.writes[0]?.answer.reject(new StoreError('No answer.', true));
    await settled();
    await time.runTo(400);
    assert.deepEqual([writer.isPrompt, store.writes.length], [false, 2]);
    await store.answer('saved');
    assert.equal(writer.isPrompt, true);
  });

  it('is no longer late once the device belongs to another process', async () => {
    await save('1', 'a');
    await time.runTo(300);
    epochs.delete(slotOf('1'));
    writer.forget(slotOf('1'));
    store.writes[0]?.answer.reject(new StoreError('No answer.', true));
    await settled();
    assert.equal(writer.isPrompt, true);
  });

  it('gives up a slot of another process, and keeps positions that a store set back does not have', async () => {
    await save('1', 'a');
    await save('2', 'a');
    await store.answer('fenced');
    assert.deepEqual([calls, writer.entriesOf(slotOf('1'))], [['fenced', 'written'], []]);
    await store.answer('behind');
    assert.equal(calls.at(-1), 'behind');
    assert.equal(writer.entriesOf(slotOf('2')).length, 1);
    await time.runTo(1000);
    assert.deepEqual(store.last, ['2a']);
  });

  it('appends every upload in order, and counts none as emitted before it is appended', async () => {
    for (const position of ['a', 'b', 'c']) writer.append('1', position, position);
    await settled();
    await store.answer('behind', 'behind', 'behind');
    assert.deepEqual(writer.entriesOf(slotOf('1')), []);
    await time.runTo(1000);
    assert.deepEqual(store.last, ['1a', '1b', '1c']);
    await store.answer('saved', 'saved', 'behind');
    assert.deepEqual(
      writer.entriesOf(slotOf('1')).map(({ position }) => position),
      ['b'],
    );
    await time.runTo(2000);
    assert.deepEqual(store.last, ['1c']);
    await store.answer('fenced');
    assert.deepEqual([calls.includes('fenced'), writer.entriesOf(slotOf('1'))], [true, []]);
    await time.runTo(3000);
    assert.equal(store.writes.length, 3);
  });

  it('limits a write by bytes, and sends again only what has not arrived', async () => {
    const upload = 'x'.repeat(100_000);
    for (const position of ['a', 'b', 'c', 'd']) writer.append('1', position, upload);
    await save('2', 'a');
    assert.deepEqual(store.last, ['2a', '1a', '1b']);
    // The position of what was emitted waits for nothing else.
    await save('3', 'a');
    store.isArrived = ({ position }) => position === 'a';
    store.writes[0]?.answer.reject(new StoreError('No answer.', true));
    await settled();
    await time.runTo(1000);
    assert.deepEqual(store.last, ['1b', '1c']);
    await store.answer('saved', 'saved');
    assert.deepEqual(store.last, ['1d']);
    await store.answer('saved');
    assert.equal(store.writes.length, 3);
  });

  it('is late if the position of what was emitted waits for a slow upload, but not for the upload alone', async () => {
    writer.append('1', 'a', 'slow');
    await settled();
    await time.runTo(1000);
    assert.equal(writer.isPrompt, true);
    await save('2', 'a');
    await time.runTo(1249);
    assert.equal(writer.isPrompt, true);
    await time.runTo(1251);
    assert.equal(writer.isPrompt, false);
    await store.answer('saved');
    await store.answer('saved');
    assert.equal(writer.isPrompt, true);
    // Emitted here and appended to the queue: its position follows the upload.
    writer.append('1', 'b', 'slow');
    await save('1', 'b');
    await time.runTo(1600);
    assert.deepEqual([store.last, writer.isPrompt], [['1b'], false]);
    await store.answer('saved');
    assert.deepEqual(store.last, ['1b']);
    await store.answer('saved');
    assert.equal(writer.isPrompt, true);
  });

  it('takes no more uploads while too many bytes wait, and goes on when half of them are written', async () => {
    const upload = 'x'.repeat(1024 * 1024);
    for (let count = 0; count < 31; count++) writer.append('1', 'p', upload);
    await settled();
    assert.equal(writer.isPrompt, true);
    writer.append('1', 'p', upload);
    assert.equal(writer.isPrompt, false);
    for (let count = 0; count < 16; count++) {
      assert.equal(writer.isPrompt, false);
      await store.answer('saved');
    }
    await store.answer('saved');
    assert.equal(writer.isPrompt, true);
  });
});
