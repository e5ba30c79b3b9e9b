import type { Clock } from './clock';
import { partitionOfSlot, slotOfPartition } from './slots';
import type { Store } from './store';
import { acknowledge, Worker, type Job } from './worker';

export interface WorkOptions {
  /** The most jobs at a time, default 16. */
  readonly inFlight?: number;
  /** Seconds after which an unacknowledged job is delivered again, default 60. */
  readonly redeliver?: number;
  /** How often an upload is delivered; then it is a dead letter. Default 5. */
  readonly attempts?: number;
  /** Handles a job; throws nothing. */
  readonly deliver: (job: Job) => void;
}

/** The partitions of the queue that this process holds, and its worker, if it has one. */
export class QueueShare {
  private readonly partitions = new Set<number>();
  private worker: Worker | undefined;

  /**
   * @param mayAct whether this process may act for a slot now
   * @param buried called when an upload of a device has become a dead letter, with the number of its deliveries
   */
  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly mayAct: (slot: number) => boolean,
    private readonly buried: (chipid: string, attempts: number) => void,
  ) {}

  /** Whether it claims a share of the queue. */
  get isWorking(): boolean {
    return this.worker !== undefined;
  }

  /** @returns a function that ends it */
  work({ inFlight = 16, redeliver = 60, attempts = 5, deliver }: WorkOptions): () => void {
    const { store, clock } = this;
    const worker = new Worker({
      ...{ store, clock, inFlight, redeliver: redeliver * 1000, attempts, deliver },
      buried: (chipid) => this.buried(chipid, attempts),
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
