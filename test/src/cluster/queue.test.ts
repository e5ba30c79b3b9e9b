import assert from 'node:assert/strict';
import fc from 'fast-check';
import { entryOf, MemoryStore } from './memory-store';
import { holds } from '../support/fuzz';
import { faultyStore, type Line } from './faulty-store';
import { Process, VirtualTime } from './virtual-time';
import { LEASE, randomFrom } from './world';
import { Cluster } from '../../../src/cluster/cluster';
import { uploadFromText } from '../../../src/cluster/messages';

/** A store that remembers what is acknowledged. */
class WatchedStore extends MemoryStore {
  readonly acknowledged = new Set<string>();

  override acknowledge(chipid: string, id: string): Promise<number | undefined> {
    const entry = this.uploads.find((each) => each.id === id);
    const upload = entry && uploadFromText(chipid, entry.upload);
    if (upload) this.acknowledged.add(`${chipid}/${String(upload.body)}`);
    return super.acknowledge(chipid, id);
  }
}

const DEVICES = ['1', '2', '3', '20', '21', '300'];

/** Processes that all append and work. */
class QueueWorld {
  readonly time = new VirtualTime();
  readonly store = new WatchedStore(() => this.time.now);
  readonly members: { process: Process; line: Line; cluster: Cluster }[] = [];
  readonly delivered = new Map<string, number>();
  /** The last one that each process has appended of a device, under each claim. */
  private readonly appended = new Map<string, number>();
  readonly outOfOrder: string[] = [];
  /** Uploads that were delivered again without a mark. */
  readonly unmarked: string[] = [];
  isFeeding = true;

  constructor(private readonly random: () => number) {
    for (let index = 0; index < 3; index++) this.join();
    this.feed();
  }

  join(): void {
    const { time, store, random } = this;
    const process = new Process(time, 1);
    const line = { isCut: false, loss: 0, delay: 20 };
    const faulty = faultyStore(store, time, process, line, random);
    const { clock } = process;
    const member = `m${this.members.length}`;
    const cluster = new Cluster({ store: faulty, lease: 5, clock, random, member });
    cluster.work({
      redeliver: 5000,
      // None of them is poison: what was in the hands of a process that died, or was forgotten, comes again.
      attempts: 1000,
      deliver: ({ chipid, upload, token, redelivered }) => {
        this.deliver(chipid, String(upload.body), redelivered);
        if (random() < 0.05) return;
        clock.after(random() * 500, () => void cluster.acknowledge(token).catch(() => undefined));
      },
    });
    cluster.claims.use('listens');
    this.members.push({ process, line, cluster });
  }

  private deliver(chipid: string, upload: string, isRedelivered: boolean): void {
    const key = `${chipid}/${upload}`;
    if (this.delivered.has(key) && !isRedelivered) this.unmarked.push(key);
    this.delivered.set(key, (this.delivered.get(key) ?? 0) + 1);
    for (let before = 1; before < Number(upload); before++) {
      if (!this.store.acknowledged.has(`${chipid}/${before}`))
        this.outOfOrder.push(`${key} before ${before}`);
    }
  }

  /** Each device has an upload now and then, which its owner appends after the last one that is there. */
  private feed(): void {
    this.time.after(300, () => this.feed());
    if (!this.isFeeding) return;
    for (const chipid of DEVICES) {
      const owner = this.members.find(
        ({ process, cluster }) => !process.isDead && !process.isPaused && cluster.mayEmit(chipid),
      );
      if (owner) void this.append(owner.cluster, chipid);
    }
  }

  private async append(cluster: Cluster, chipid: string): Promise<void> {
    const key = `${cluster.member}/${chipid}/${cluster.epochOf(chipid)}`;
    const [position = '0'] = await this.store.load([chipid]);
    const next = Number(position) + 1;
    // It is on its way.
    if ((this.appended.get(key) ?? 0) >= next) return;
    this.appended.set(key, next);
    cluster.positions.append(chipid, String(next), entryOf(String(next)));
  }
}

describe('the queue of a cluster whose processes fail', () => {
  const kinds = ['pause', 'cut', 'loss', 'kill', 'join'] as const;
  const faults = fc.array(
    fc.record({
      after: fc.nat({ max: 3000 }),
      kind: fc.constantFrom(...kinds),
      index: fc.nat({ max: 3 }),
      lasts: fc.integer({ min: 100, max: 12_000 }),
    }),
    { maxLength: 5 },
  );

  holds(
    'is processed in order per device, and each appended upload is acknowledged',
    15,
    fc.asyncProperty(fc.nat(), faults, async (seed, list) => {
      const world = new QueueWorld(randomFrom(seed));
      const { time, members, store } = world;
      await time.runTo(2 * LEASE);
      for (const { after, kind, index, lasts } of list) {
        await time.runTo(time.now + after);
        const member = members[index % members.length]!;
        const { process, line } = member;
        const alive = members.filter((each) => !each.process.isDead).length;
        if (kind === 'pause') process.pause(lasts);
        else if (kind === 'kill' && alive > 1) process.isDead = true;
        else if (kind === 'join' && alive < 4) world.join();
        else if (kind === 'cut' || kind === 'loss') {
          Object.assign(line, kind === 'cut' ? { isCut: true } : { loss: 0.3 });
          time.after(lasts, () => Object.assign(line, { isCut: false, loss: 0 }));
        }
      }
      await time.runTo(time.now + 3 * LEASE);
      world.isFeeding = false;
      const end = time.now + 40 * LEASE;
      while (time.now < end && store.uploads.length > 0) await time.runTo(time.now + LEASE);
      assert.deepEqual(store.uploads, [], 'nothing is left');
      assert.deepEqual([world.outOfOrder, world.unmarked], [[], []]);
      assert.ok(world.delivered.size > DEVICES.length);
    }),
  );
});
