import type { Clock } from './clock';
import { queueTopic, type QueueEntry, type Store } from './store';

/** Entries that are read ahead, so that devices behind one that waits are not held up. */
const AHEAD = 256;

/** Milliseconds between two looks where nothing said that there is anything: a published text may get lost. */
const LOOK = 1000;

/** An upload of the queue that is handled now. */
export interface Job {
  readonly chipid: string;
  readonly upload: string;
  /** Acknowledges it, in any process. */
  readonly token: string;
  /** Whether this process has delivered it before. */
  readonly isRedelivered: boolean;
}

export interface PartitionReaderOptions {
  readonly store: Pick<Store, 'read' | 'has' | 'subscribe'>;
  readonly clock: Clock;
  readonly partition: number;
  readonly redeliver: number;
  readonly mayWork: () => boolean;
  /** Takes one of the places for jobs. @returns whether there was one */
  readonly acquire: () => boolean;
  readonly release: () => void;
  readonly deliver: (job: Job) => void;
}

interface Waiting {
  readonly entry: QueueEntry;
  /** How often it was delivered. */
  times: number;
  cancel: (() => void) | undefined;
}

/** Delivers the entries of one stream. */
export class PartitionReader {
  /** Of each device, the entries that are not acknowledged, oldest first; only the first is delivered. */
  private readonly devices = new Map<string, Waiting[]>();
  private count = 0;
  private after: string | undefined;
  private isReading = false;
  private isClosed = false;
  private isWoken = false;
  private cancelLook: () => void = () => undefined;
  private readonly unsubscribe: () => void;

  constructor(private readonly options: PartitionReaderOptions) {
    const { store, partition } = options;
    this.unsubscribe = store.subscribe(queueTopic(partition), () => this.wake());
  }

  start(): void {
    this.wake();
  }

  wake(): void {
    this.isWoken = true;
    if (!this.isReading && !this.isClosed) void this.read();
  }

  /** Removes an entry and goes on with the device's next one. */
  acknowledged(id: string): void {
    for (const [chipid, entries] of this.devices) {
      const place = entries.findIndex(({ entry }) => entry.id === id);
      const found = entries[place];
      if (!found) continue;
      entries.splice(place, 1);
      this.count--;
      this.putDown(found);
      if (entries.length === 0) this.devices.delete(chipid);
    }
  }

  close(): void {
    this.isClosed = true;
    this.unsubscribe();
    this.cancelLook();
    for (const waiting of [...this.devices.values()].flat()) this.putDown(waiting);
    this.devices.clear();
  }

  private async read(): Promise<void> {
    const { store, partition, clock } = this.options;
    this.isReading = true;
    this.cancelLook();
    while (this.isWoken && this.hasWork()) {
      this.isWoken = false;
      const room = AHEAD - this.count;
      if (room > 0) {
        const entries = await store.read(partition, this.after, room).catch(() => []);
        for (const entry of entries) this.add(entry);
        if (entries.length === room) this.isWoken = true;
      }
      this.deliverHeads();
      if (this.count >= AHEAD) break;
    }
    this.isReading = false;
    if (!this.isClosed) this.cancelLook = clock.after(LOOK, () => this.wake());
  }

  private hasWork(): boolean {
    return !this.isClosed && this.options.mayWork();
  }

  private add(entry: QueueEntry): void {
    this.after = entry.id;
    this.count++;
    const entries = this.devices.get(entry.chipid) ?? [];
    this.devices.set(entry.chipid, entries);
    entries.push({ entry, times: 0, cancel: undefined });
  }

  private deliverHeads(): void {
    for (const [head] of this.devices.values()) {
      if (!head || head.cancel || !this.hasWork()) continue;
      if (!this.options.acquire()) return;
      this.deliver(head);
    }
  }

  private deliver(waiting: Waiting): void {
    const { clock, redeliver, partition, deliver } = this.options;
    const { id, chipid, upload } = waiting.entry;
    waiting.cancel = clock.after(redeliver, () => void this.again(waiting));
    const isRedelivered = waiting.times++ > 0;
    deliver({ chipid, upload, token: `${partition}:${id}`, isRedelivered });
  }

  /** Delivers a job once more, unless it was acknowledged and the text that says so got lost. */
  private async again(waiting: Waiting): Promise<void> {
    const { store, partition } = this.options;
    const { id } = waiting.entry;
    const isThere = await store.has(partition, id).catch(() => undefined);
    if (this.isClosed || !waiting.cancel) return;
    if (isThere === false) {
      this.acknowledged(id);
      this.wake();
      return;
    }
    this.putDown(waiting);
    this.wake();
  }

  private putDown(waiting: Waiting): void {
    if (!waiting.cancel) return;
    waiting.cancel();
    waiting.cancel = undefined;
    this.options.release();
  }
}
