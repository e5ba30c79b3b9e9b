import type { Clock } from './clock';
import { DeviceEntries, isLater, type Waiting } from './device-entries';
import { queueTopic, type QueueEntry, type Store } from './store';

/** How many entries are read ahead, so that a waiting device does not block those behind it. */
const AHEAD = 256;

/** How many entries are read at a time to find those of a device that were left out. */
const PAGE = 64;

/** Milliseconds between two reads without a message, since a published message may get lost. */
const LOOK = 1000;

/** An upload of the queue that is being handled. */
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
  /** Acquires a place for a job. @returns whether there was one */
  readonly acquire: () => boolean;
  readonly release: () => void;
  readonly deliver: (job: Job) => void;
}

/** Delivers the entries of one stream. */
export class PartitionReader {
  private readonly devices = new Map<string, DeviceEntries>();
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

  /** Delivers entries while there are places for jobs. */
  deliver(): void {
    for (const { waiting } of this.devices.values()) {
      const [head] = waiting;
      if (!head || head.cancel || !this.hasWork()) continue;
      if (!this.options.acquire()) return;
      this.begin(head);
    }
  }

  /** Removes an entry and continues with the device's next one. */
  acknowledged(id: string): void {
    for (const [chipid, device] of this.devices) {
      const { waiting } = device;
      const place = waiting.findIndex(({ entry }) => entry.id === id);
      const found = waiting[place];
      if (!found) continue;
      waiting.splice(place, 1);
      this.count--;
      this.release(found);
      if (device.isOver) this.devices.delete(chipid);
    }
  }

  close(): void {
    this.isClosed = true;
    this.unsubscribe();
    this.cancelLook();
    for (const { waiting } of this.devices.values()) for (const each of waiting) this.release(each);
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
      await this.refill();
      this.deliver();
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
    const device = this.devices.get(entry.chipid) ?? new DeviceEntries();
    this.devices.set(entry.chipid, device);
    this.append(device, entry);
  }

  /** @returns false if the device has enough for now */
  private append(device: DeviceEntries, entry: QueueEntry): boolean {
    if (device.isFull) {
      device.isCut = true;
      return false;
    }
    this.count++;
    device.last = entry.id;
    device.waiting.push({ entry, times: 0, cancel: undefined });
    return true;
  }

  /** Reads again what was left out of devices that have nothing left to deliver. */
  private async refill(): Promise<void> {
    for (const [chipid, device] of [...this.devices]) {
      if (!device.isCut || device.waiting.length > 0) continue;
      await this.refillDevice(chipid, device);
      if (device.isOver) this.devices.delete(chipid);
      if (!this.hasWork()) return;
    }
  }

  private async refillDevice(chipid: string, device: DeviceEntries): Promise<void> {
    const { store, partition } = this.options;
    const end = this.after ?? '';
    device.isCut = false;
    for (let after = device.last; ;) {
      const entries = await store.read(partition, after, PAGE).catch(() => undefined);
      if (!entries || this.isClosed) {
        device.isCut = true;
        return;
      }
      for (const entry of entries) {
        if (isLater(entry.id, end)) return;
        if (entry.chipid === chipid && !this.append(device, entry)) return;
        after = entry.id;
      }
      if (entries.length < PAGE) return;
    }
  }

  private begin(waiting: Waiting): void {
    const { clock, redeliver, partition, deliver } = this.options;
    const { id, chipid, upload } = waiting.entry;
    waiting.cancel = clock.after(redeliver, () => void this.redeliver(waiting));
    const isRedelivered = waiting.times++ > 0;
    deliver({ chipid, upload, token: `${partition}:${id}`, isRedelivered });
  }

  /** Delivers a job once more, unless it was acknowledged and the message about that got lost. */
  private async redeliver(waiting: Waiting): Promise<void> {
    const { store, partition } = this.options;
    const { id } = waiting.entry;
    const isThere = await store.has(partition, id).catch(() => undefined);
    if (this.isClosed || !waiting.cancel) return;
    if (isThere === false) {
      this.acknowledged(id);
      this.wake();
      return;
    }
    this.release(waiting);
    this.wake();
  }

  private release(waiting: Waiting): void {
    if (!waiting.cancel) return;
    waiting.cancel();
    waiting.cancel = undefined;
    this.options.release();
  }
}
