import type { Clock } from './clock';
import { partitionOfSlot, slotOfPartition } from './slots';
import type { Store } from './store';
import { readToken, Worker, type Job } from './worker';

/** The topic of the tokens that a process has acknowledged which does not work on their partition. */
const ACKNOWLEDGED = 'acknowledged';

/** How a process works on the queue: see {@link ClusterWork}. */
export interface WorkOptions {
  readonly inFlight?: number;
  /** Seconds. */
  readonly redeliver?: number;
  readonly attempts?: number;
  /** Handles a job; throws nothing. */
  readonly deliver: (job: Job) => void;
}

/** The partitions of the queue that this process holds, and its worker, if it has one. */
export class QueueShare {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #mayAct: (slot: number) => boolean;
  readonly #buried: (chipid: string, attempts: number) => void;
  readonly #partitions = new Set<number>();
  #worker: Worker | undefined;
  #unsubscribe: () => void = () => undefined;

  /**
   * @param mayAct whether this process may act for a slot now
   * @param buried called when an upload of a device has become a dead letter, with the number of its deliveries
   */
  constructor(
    store: Store,
    clock: Clock,
    mayAct: (slot: number) => boolean,
    buried: (chipid: string, attempts: number) => void,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#mayAct = mayAct;
    this.#buried = buried;
  }

  /** Whether it claims a share of the queue. */
  get isWorking(): boolean {
    return this.#worker !== undefined;
  }

  /** @returns a function that ends it */
  work({ inFlight = 16, redeliver = 60, attempts = 5, deliver }: WorkOptions): () => void {
    this.close();
    const worker = new Worker({
      ...{ store: this.#store, clock: this.#clock, inFlight, attempts, deliver },
      redeliver: redeliver * 1000,
      buried: (chipid) => this.#buried(chipid, attempts),
      mayWork: (partition) => this.#mayAct(slotOfPartition(partition)),
    });
    this.#worker = worker;
    this.#unsubscribe = this.#store.subscribe(ACKNOWLEDGED, (token) => {
      const read = readToken(token);
      if (read) worker.acknowledged(...read);
    });
    for (const partition of this.#partitions) worker.gained(partition);
    return () => {
      if (this.#worker === worker) this.close();
    };
  }

  gained(slot: number): void {
    const partition = partitionOfSlot(slot);
    this.#partitions.add(partition);
    this.#worker?.gained(partition);
  }

  lost(slot: number): void {
    const partition = partitionOfSlot(slot);
    this.#partitions.delete(partition);
    this.#worker?.lost(partition);
  }

  /** Work on the partitions may be allowed again. */
  wake(): void {
    this.#worker?.fill();
  }

  /** @throws StoreError */
  acknowledge(token: string): Promise<boolean> {
    return acknowledge(this.#store, token, this.#worker);
  }

  close(): void {
    this.#unsubscribe();
    this.#worker?.close();
    this.#worker = undefined;
  }
}

/**
 * Acknowledges a job, whichever process delivered it.
 * @param worker this process's, if it has one
 * @returns whether it had not been acknowledged before; false, too, for a text that is no token
 * @throws StoreError
 */
export async function acknowledge(
  store: Pick<Store, 'acknowledge' | 'publish'>,
  token: string,
  worker: Worker | undefined,
): Promise<boolean> {
  const [chipid, id] = readToken(token) ?? [];
  if (chipid === undefined || id === undefined) return false;
  const left = await store.acknowledge(chipid, id);
  // Another process may have delivered it. If this message gets lost, the next claim shows it.
  if (worker?.has(chipid)) worker.acknowledged(chipid, id, left);
  else await store.publish(ACKNOWLEDGED, token).catch(() => undefined);
  return left !== undefined;
}
