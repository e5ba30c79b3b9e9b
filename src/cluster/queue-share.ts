import type { Clock } from './clock';
import type { Job } from './partition-reader';
import { partitionOfSlot, slotOfPartition, type Pool } from './slots';
import type { Store } from './store';
import { acknowledge, Worker } from './worker';

export interface WorkOptions {
  /** The most jobs at a time, default 16. */
  readonly inFlight?: number;
  /** Seconds after which an unacknowledged job is delivered again, default 60. */
  readonly redeliver?: number;
  /** Handles a job; throws nothing. */
  readonly deliver: (job: Job) => void;
}

/** The pools of which this process claims a share, the partitions of the queue that it holds, and its worker, if it has one. */
export class QueueShare {
  private readonly partitions = new Set<number>();
  private worker: Worker | undefined;
  private hasListened = false;

  /** @param mayAct whether this process may act for a slot now */
  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly mayAct: (slot: number) => boolean,
  ) {}

  /** The pools of which it claims a share. No devices if it only works on the queue: nothing here would listen to them. */
  get claims(): Pool[] {
    if (!this.worker) return ['devices'];
    return this.hasListened ? ['devices', 'queue'] : ['queue'];
  }

  /** Claims a share of the devices until the end, since listeners come and go. @returns whether that is new */
  listens(): boolean {
    const isNew = !this.hasListened;
    this.hasListened = true;
    return isNew;
  }

  /** @returns a function that ends it */
  work({ inFlight = 16, redeliver = 60, deliver }: WorkOptions): () => void {
    const { store, clock } = this;
    const worker = new Worker({
      ...{ store, clock, inFlight, redeliver: redeliver * 1000, deliver },
      mayWork: (partition) => this.mayAct(slotOfPartition(partition)),
    });
    this.worker?.close();
    this.worker = worker;
    for (const partition of this.partitions) worker.gained(partition);
    return () => {
      worker.close();
      if (this.worker === worker) this.worker = undefined;
    };
  }

  gained(slot: number): void {
    const partition = partitionOfSlot(slot);
    this.partitions.add(partition);
    this.worker?.gained(partition);
  }

  lost(slot: number): void {
    const partition = partitionOfSlot(slot);
    this.partitions.delete(partition);
    this.worker?.lost(partition);
  }

  wake(): void {
    this.worker?.wake();
  }

  /** @throws StoreError */
  acknowledge(token: string): Promise<boolean> {
    return acknowledge(this.store, token, this.worker);
  }

  close(): void {
    this.worker?.close();
    this.worker = undefined;
  }
}
