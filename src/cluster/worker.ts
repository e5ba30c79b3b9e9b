import type { Clock } from './clock';
import { PartitionReader, type Job } from './partition-reader';
import { PARTITIONS } from './slots';
import type { Store } from './store';

export interface WorkerOptions {
  readonly store: Pick<Store, 'read' | 'acknowledge' | 'has' | 'subscribe' | 'publish'>;
  readonly clock: Clock;
  /** The most jobs at a time. */
  readonly inFlight: number;
  /** Milliseconds after which an unacknowledged job is delivered again. */
  readonly redeliver: number;
  /** Whether this process may work on a partition now. */
  readonly mayWork: (partition: number) => boolean;
  /** Handles a job; throws nothing. */
  readonly deliver: (job: Job) => void;
}

const ACKNOWLEDGED = 'acknowledged';

const TOKEN = /^(\d{1,2}):(\d{1,20}(?:-\d{1,20})?)$/;

/** Whether a value has the form of a token: a flow may have changed it on its message. */
export const isToken = (value: unknown): value is string =>
  typeof value === 'string' && Number(TOKEN.exec(value)?.[1] ?? PARTITIONS) < PARTITIONS;

/**
 * Works on the partitions that this process has leased: delivers the uploads of one device in order, each after the
 * one before was acknowledged, and those of different devices concurrently.
 */
export class Worker {
  private readonly readers = new Map<number, PartitionReader>();
  private readonly unsubscribe: () => void;
  private running = 0;
  /** Readers that have a job but no place for it, in the order of waiting. */
  private readonly waiting = new Set<PartitionReader>();

  constructor(private readonly options: WorkerOptions) {
    this.unsubscribe = options.store.subscribe(ACKNOWLEDGED, (token) => this.acknowledged(token));
  }

  /** Starts with a partition, at its oldest unacknowledged entry. */
  gained(partition: number): void {
    this.lost(partition);
    const { store, clock, redeliver, mayWork, deliver } = this.options;
    const reader: PartitionReader = new PartitionReader({
      ...{ store, clock, partition, redeliver },
      mayWork: () => mayWork(partition),
      acquire: () => this.acquire(reader),
      release: () => this.running--,
      deliver,
    });
    this.readers.set(partition, reader);
    reader.start();
  }

  /** Leaves a partition at once: unacknowledged jobs will be delivered elsewhere. */
  lost(partition: number): void {
    const reader = this.readers.get(partition);
    if (!reader) return;
    reader.close();
    this.readers.delete(partition);
    this.waiting.delete(reader);
    this.fill();
  }

  /** Looks for entries, since work on the partitions may be allowed again. */
  wake(): void {
    for (const reader of this.readers.values()) reader.wake();
  }

  /** Whether it works on the partition of a job. */
  has(token: string): boolean {
    return this.readers.has(Number(TOKEN.exec(token)?.[1] ?? NaN));
  }

  /** A job was acknowledged, here or elsewhere. */
  acknowledged(token: string): void {
    const [, partition, id] = TOKEN.exec(token) ?? [];
    const reader = this.readers.get(Number(partition));
    if (!reader || id === undefined) return;
    reader.acknowledged(id);
    this.fill();
    reader.wake();
  }

  close(): void {
    this.unsubscribe();
    for (const reader of this.readers.values()) reader.close();
    this.readers.clear();
    this.waiting.clear();
  }

  private acquire(reader: PartitionReader): boolean {
    if (this.running >= this.options.inFlight) {
      this.waiting.add(reader);
      return false;
    }
    this.running++;
    return true;
  }

  /** Fills free places. Readers that have waited longest come first. */
  private fill(): void {
    for (const reader of [...this.waiting]) {
      if (this.running >= this.options.inFlight) return;
      this.waiting.delete(reader);
      reader.deliver();
    }
  }
}

/**
 * Acknowledges a job, whichever process delivered it.
 * @param worker this process's, if it has one
 * @returns whether it had not been acknowledged before; false, too, for a text that is no token
 * @throws StoreError
 */
export async function acknowledge(
  store: WorkerOptions['store'],
  token: string,
  worker: Worker | undefined,
): Promise<boolean> {
  const [, partition, id] = TOKEN.exec(token) ?? [];
  if (partition === undefined || id === undefined || Number(partition) >= PARTITIONS) return false;
  const wasThere = await store.acknowledge(Number(partition), id);
  // Another process may have delivered it. If this message gets lost, that one notices before it delivers it again.
  if (worker?.has(token)) worker.acknowledged(token);
  else await store.publish(ACKNOWLEDGED, token).catch(() => undefined);
  return wasThere;
}
