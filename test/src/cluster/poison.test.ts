import assert from 'node:assert/strict';
import { Cluster } from '../../../src/cluster/cluster';
import { partitionOf } from '../../../src/cluster/slots';
import { entryOf, MemoryStore } from './memory-store';
import { Process, VirtualTime } from './virtual-time';
import { LEASE } from './world';

/** What a process does with an upload that it was given. */
type Handle = (upload: string, acknowledge: () => void, process: Process) => void;

const SECOND = 1000;

interface Delivered {
  upload: string;
  isRedelivered: boolean;
  at: number;
}

/** Processes that work on the queue of one store, with the defaults of the work node. */
class Workers {
  readonly time = new VirtualTime();
  readonly store = new MemoryStore(() => this.time.now);
  readonly delivered: Delivered[] = [];
  readonly acknowledged = new Set<string>();
  readonly faults: string[] = [];
  private count = 0;

  constructor(private readonly handle: Handle) {}

  start(): { cluster: Cluster; process: Process } {
    const { time, store } = this;
    const process = new Process(time, 1);
    const { clock } = process;
    const cluster = new Cluster({ store, lease: 5, clock, member: `m${++this.count}` });
    cluster.listen({ onFault: (fault) => this.faults.push(fault) });
    cluster.claims.use('listens');
    cluster.work({
      deliver: ({ upload: { body }, token, redelivered: isRedelivered }) => {
        const upload = String(body);
        this.delivered.push({ upload, isRedelivered, at: time.now });
        const acknowledge = (): void => {
          this.acknowledged.add(upload);
          void cluster.acknowledge(token);
        };
        this.handle(upload, acknowledge, process);
      },
    });
    return { cluster, process };
  }

  of(upload: string): Delivered[] {
    return this.delivered.filter((each) => each.upload === upload);
  }
}

const devices = (count: number, from: number, isOne?: (chipid: string) => boolean): string[] => {
  const found: string[] = [];
  for (let number = from; found.length < count; number++)
    if (isOne?.(String(number)) ?? true) found.push(String(number));
  return found;
};

/** Appends some uploads of each device, by turns; their texts are "device/number". */
async function append(cluster: Cluster, chipids: readonly string[], each: number): Promise<void> {
  for (let number = 1; number <= each; number++) {
    for (const chipid of chipids)
      cluster.positions.append(chipid, String(number), entryOf(`${chipid}/${number}`));
    await cluster.positions.flush();
  }
}

const isGood = (upload: string): boolean => Number(upload.split('/')[0]) < 1000;

describe('uploads that are not acknowledged', () => {
  /** Handles good uploads in 20 ms; of the others it acknowledges none. */
  async function world(bad: readonly string[], each: number, good: readonly string[]) {
    const workers = new Workers((upload, acknowledge, process) => {
      if (isGood(upload)) process.clock.after(20, acknowledge);
    });
    const { cluster } = workers.start();
    await workers.time.runTo(2 * LEASE);
    const began = workers.time.now;
    await append(cluster, bad, each);
    await append(cluster, good, 5);
    return { workers, began };
  }

  it('hold back no other device, although they are more than may be in flight', async () => {
    const { workers, began } = await world(devices(60, 1000), 1, devices(40, 1));
    await workers.time.runTo(began + 60 * SECOND);
    assert.equal(workers.acknowledged.size, 200);
  });

  it('hold back no other device of their part of the queue, however many they are', async () => {
    const isOne = (chipid: string): boolean => partitionOf(chipid) === 3;
    const { workers, began } = await world(devices(36, 1000, isOne), 10, devices(4, 1, isOne));
    await workers.time.runTo(began + 60 * SECOND);
    assert.equal(workers.acknowledged.size, 20);
  });

  it('are delivered five times, marked from the second time on, and then are dead letters', async () => {
    const { workers, began } = await world(['1000'], 2, []);
    const { time, store } = workers;
    await time.runTo(began + 5 * 60 * SECOND - SECOND);
    const marks = [false, true, true, true, true];
    assert.deepEqual(
      workers.of('1000/1').map(({ isRedelivered }) => isRedelivered),
      marks,
    );
    assert.deepEqual(await store.queueState(), { length: 2, deadLetters: 0 });
    await time.runTo(began + 10 * 60 * SECOND + 10 * SECOND);
    assert.deepEqual(
      workers.delivered.map(({ upload, isRedelivered }) => [upload, isRedelivered]),
      ['1000/1', '1000/2'].flatMap((upload) => marks.map((mark) => [upload, mark])),
    );
    assert.deepEqual(await store.queueState(), { length: 0, deadLetters: 2 });
    assert.match(workers.faults[0] ?? '', /device 1000 .*5 times.*dead letter/);
  });

  it('that end each process are dead letters in the end, and no other upload is', async () => {
    const workers = new Workers((upload, acknowledge, process) => {
      if (upload === '1000/1') process.isDead = true;
      else process.clock.after(20, acknowledge);
    });
    const { time, store } = workers;
    const running = [workers.start(), workers.start(), workers.start()];
    await time.runTo(2 * LEASE);
    const chipids = ['1000', ...devices(100, 1)];
    for (let number = 1; number <= 2; number++)
      for (const chipid of chipids) {
        const owner = running.find(({ cluster }) => cluster.mayEmit(chipid));
        owner?.cluster.positions.append(chipid, String(number), entryOf(`${chipid}/${number}`));
      }
    // A process that died is started again.
    const end = time.now + 6 * 60 * SECOND;
    while (time.now < end) {
      await time.runTo(time.now + SECOND);
      for (const [index, { process }] of running.entries())
        if (process.isDead) running[index] = workers.start();
    }
    assert.deepEqual(
      workers.of('1000/1').map(({ isRedelivered }) => isRedelivered),
      [false, true, true, true, true],
    );
    assert.deepEqual(await store.queueState(), { length: 0, deadLetters: 1 });
    assert.equal(workers.acknowledged.size, 2 * 101 - 1);
  });
});
