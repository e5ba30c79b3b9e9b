import assert from 'node:assert/strict';
import type { Clock } from '../../../src/cluster/clock';
import { MemoryStore } from './memory-store';
import type { Job } from '../../../src/cluster/partition-reader';
import { partitionOf, slotOf } from '../../../src/cluster/slots';
import type { QueueEntry } from '../../../src/cluster/store';
import { acknowledge, Worker } from '../../../src/cluster/worker';
import { atEnd } from '../../../tooling/servers/at-end';
import { settled } from '../../../tooling/until';

const LEASE = 5000;

/** The time does not advance: nothing is repeated by a timer. */
const still: Clock = { now: () => 0, monotonic: () => 0, after: () => () => undefined };

class CountingStore extends MemoryStore {
  readonly reads: number[] = [];

  override read(...args: Parameters<MemoryStore['read']>): Promise<QueueEntry[]> {
    this.reads.push(args[0]);
    return super.read(...args);
  }
}

/** A device of each partition. */
const CHIPIDS = Array.from({ length: 16 }, (_, partition) => {
  let chipid = 1;
  while (partitionOf(String(chipid)) !== partition) chipid++;
  return String(chipid);
});

/** A worker on all partitions, in each of which there are two uploads of one device. */
async function world(
  inFlight: number,
): Promise<{ store: CountingStore; worker: Worker; jobs: Job[] }> {
  const store = new CountingStore();
  const beat = { member: 'm', lease: LEASE, claims: ['devices'], generation: 'g' } as const;
  const none = { holdings: [], release: [], dead: [] };
  const { incarnation } = (await store.beat({ ...beat, ...none, beat: 1, settled: undefined }))!;
  const { mine } = (await store.beat({ ...beat, ...none, beat: 2, settled: incarnation }))!;
  const epochs = new Map(mine.map(({ slot, epoch }) => [slot, epoch]));
  for (const sequence of [1, 2]) {
    const entries = CHIPIDS.map((chipid) => {
      const slot = slotOf(chipid);
      const upload = `${chipid}/${sequence}`;
      return { chipid, slot, epoch: epochs.get(slot) ?? 0, sequence, position: '', upload };
    });
    await store.save('m', entries);
  }
  const jobs: Job[] = [];
  const worker = new Worker({
    ...{ store, clock: still, inFlight, redeliver: LEASE, mayWork: () => true },
    deliver: (job) => jobs.push(job),
  });
  atEnd(() => worker.close());
  for (const partition of CHIPIDS.keys()) worker.gained(partition);
  await settled();
  return { store, worker, jobs };
}

describe('a worker on many streams', () => {
  it('reads only the stream of an upload that was acknowledged, by any process, for the next one', async () => {
    const { store, worker, jobs } = await world(100);
    assert.equal(jobs.length, 16);
    for (const by of [worker, undefined]) {
      store.reads.length = 0;
      const job = jobs.at(-1)!;
      await acknowledge(store, job.token, by);
      await settled();
      assert.deepEqual([...new Set(store.reads)], [partitionOf(job.chipid)]);
    }
  });

  it('gives a place that becomes free to the stream that has waited longest', async () => {
    const { store, worker, jobs } = await world(1);
    for (let count = 1; count < 32; count++) {
      assert.equal(jobs.length, count);
      await acknowledge(store, jobs.at(-1)!.token, worker);
      await settled();
    }
    const uploads = (sequence: number): string[] =>
      CHIPIDS.map((chipid) => `${chipid}/${sequence}`);
    assert.deepEqual(
      jobs.map(({ upload }) => upload),
      [...uploads(1), ...uploads(2)],
    );
  });
});
