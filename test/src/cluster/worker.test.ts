import assert from 'node:assert/strict';
import type { Clock } from '../../../src/cluster/store';
import { entryOf, MemoryStore } from './memory-store';
import { PARTITIONS, partitionOf, slotOf, slotOfPartition } from '../../../src/cluster/slots';
import type { Claim } from '../../../src/cluster/store';
import { Queue } from '../../../src/cluster/queue';
import type { ClusterJob } from '../../../src/cluster/types';
import { atEnd } from '../../../tooling/servers/at-end';
import { settled } from '../../../tooling/until';

const LEASE = 5000;

/** The time does not advance: nothing is repeated by a timer. */
const still: Clock = {
  now: () => 0,
  monotonic: () => 0,
  after(ms, callback) {
    if (ms === 0) queueMicrotask(callback);
    return () => undefined;
  },
};

class CountingStore extends MemoryStore {
  readonly claims: string[] = [];

  override claim(...args: Parameters<MemoryStore['claim']>): Promise<Claim> {
    this.claims.push(args[0]);
    return super.claim(...args);
  }
}

/** A device of each partition. */
const CHIPIDS = Array.from({ length: PARTITIONS }, (_, partition) => {
  let chipid = 1;
  while (partitionOf(String(chipid)) !== partition) chipid++;
  return String(chipid);
});

/** A process's share of the queue. */
const shareOf = (store: CountingStore): Queue =>
  new Queue(
    store,
    still,
    { mayAct: () => true },
    { report: () => assert.fail('it is a dead letter') },
  );

/** A worker on all partitions, in each of which there are two uploads of one device. */
async function world(
  inFlight: number,
): Promise<{ store: CountingStore; queue: Queue; jobs: ClusterJob[] }> {
  const store = new CountingStore();
  const beat = { member: 'm', lease: LEASE, claims: ['devices'], generation: 'g' } as const;
  const none = { holdings: [], release: [], dead: [] };
  const { incarnation } = (await store.beat({ ...beat, ...none, beat: 1, settled: undefined }))!;
  const { mine } = (await store.beat({ ...beat, ...none, beat: 2, settled: incarnation }))!;
  const epochs = new Map(mine.map(({ slot, epoch }) => [slot, epoch]));
  for (const sequence of [1, 2]) {
    const entries = CHIPIDS.map((chipid) => {
      const slot = slotOf(chipid);
      const upload = entryOf(`${chipid}/${sequence}`);
      return { chipid, slot, epoch: epochs.get(slot) ?? 0, sequence, position: '', upload };
    });
    await store.save('m', entries);
  }
  const jobs: ClusterJob[] = [];
  const queue = shareOf(store);
  queue.work({ inFlight, deliver: (job) => jobs.push(job) });
  atEnd(() => queue.close());
  for (const partition of CHIPIDS.keys()) queue.gained(slotOfPartition(partition));
  await settled();
  return { store, queue, jobs };
}

describe('a worker on many devices', () => {
  it('claims only the next upload of a device whose upload was acknowledged, by any process', async () => {
    const { store, queue, jobs } = await world(100);
    assert.equal(jobs.length, PARTITIONS);
    for (const by of [queue, shareOf(store)]) {
      store.claims.length = 0;
      const job = jobs.at(-1)!;
      await by.acknowledge(job.token);
      await settled();
      assert.deepEqual(store.claims, [job.chipid]);
      assert.deepEqual(String(jobs.at(-1)?.upload.body), `${job.chipid}/2`);
      jobs.pop();
      jobs.pop();
    }
  });

  it('gives a place that becomes free to the device that has waited longest', async () => {
    const { queue, jobs } = await world(1);
    for (let count = 1; count < 2 * PARTITIONS; count++) {
      assert.equal(jobs.length, count);
      await queue.acknowledge(jobs.at(-1)!.token);
      await settled();
    }
    const uploads = (sequence: number): string[] =>
      CHIPIDS.map((chipid) => `${chipid}/${sequence}`);
    assert.deepEqual(
      jobs.map(({ upload }) => String(upload.body)),
      [...uploads(1), ...uploads(2)],
    );
  });
});
