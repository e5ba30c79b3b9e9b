import { randomUUID } from 'node:crypto';
import type { Clock } from './clock';
import { partitionOf } from './slots';
import { queueTopic, type ClaimedUpload, type Store } from './store';

/** Milliseconds between two looks at the queue without a message, since a published message may get lost. */
const LOOK = 1000;

/** The most devices that are known at a time. */
const MOST_DEVICES = 20_000;

/**
 * How long an upload that is not acknowledged counts as in flight: a part of `redeliver`, at least the milliseconds in
 * `least`, and at least twice the usual time of an acknowledgement. After that, another device can take its place.
 */
const PATIENCE = { part: 1 / 10, least: 1000, usual: 2 };

/** How much of the longest time to an acknowledgement is left with each shorter one. */
const FADES = 0.9;

/** An upload of the queue that is being handled. */
export interface Job {
  readonly chipid: string;
  readonly upload: string;
  /** Acknowledges it, in any process. */
  readonly token: string;
  /** Whether any process may have delivered it before. */
  readonly isRedelivered: boolean;
}

export interface WorkerOptions {
  readonly store: Pick<Store, 'waiting' | 'claim' | 'acknowledge' | 'subscribe' | 'publish'>;
  readonly clock: Clock;
  /** The most jobs at a time. */
  readonly inFlight: number;
  /** Milliseconds after which an unacknowledged job is delivered again. */
  readonly redeliver: number;
  /** How often an upload is delivered; then it is a dead letter. */
  readonly attempts: number;
  /** Whether this process may work on a partition now. */
  readonly mayWork: (partition: number) => boolean;
  /** Handles a job; throws nothing. */
  readonly deliver: (job: Job) => void;
  /** Called when an upload of a device has become a dead letter. */
  readonly buried: (chipid: string) => void;
}

const ACKNOWLEDGED = 'acknowledged';

const CHIPID = /^\d{1,20}$/;
const TOKEN = /^(\d{1,20}):(\d{1,20}(?:-\d{1,20})?)$/;

/** Whether a value has the form of a token: a flow may have changed it on its message. */
export const isToken = (value: unknown): value is string =>
  typeof value === 'string' && TOKEN.test(value);

/** A device with uploads in the queue. Its first one is delivered; the others wait until that is acknowledged. */
interface Device {
  readonly chipid: string;
  readonly partition: number;
  /** How often its first upload was delivered, in any process. */
  attempts: number;
  /** The upload that was delivered last, unless it is acknowledged, and when. */
  delivered: { readonly id: string; readonly at: number } | undefined;
  /** The claim that is on its way, under which it may be repeated without being counted again. */
  claim: string | undefined;
  isClaiming: boolean;
  /** The upload that was acknowledged meanwhile. */
  acknowledged: string | undefined;
  /** Whether an upload may have been appended since the last claim. */
  hasNews: boolean;
  isOver: boolean;
  /** Ends its timers. */
  cancel: () => void;
  /** Gives back its place, if it has one. */
  free: () => void;
}

/** Devices that wait for a place, the one that has waited longest first. */
interface Lane {
  readonly waiting: Set<Device>;
  readonly places: number;
  running: number;
}

const laneOf = (places: number): Lane => ({ waiting: new Set(), places, running: 0 });

interface Partition {
  readonly devices: Set<Device>;
  /** Whether it is known how often its uploads were delivered before it came here. */
  isKnown: boolean;
  readonly unsubscribe: () => void;
}

/** Whether an upload was acknowledged while it was being claimed. */
const isAcknowledged = (device: Device, id: string): boolean => device.acknowledged === id;

const none = (): void => undefined;

/**
 * Works on the partitions that this process has leased: delivers the uploads of one device in order, each after the
 * one before was acknowledged, and those of different devices concurrently.
 *
 * What was delivered before goes one at a time, what was delivered least often first. So neither many devices that are
 * never acknowledged take the places of the others, nor does an upload that ends the process each time have others
 * delivered along with it, that would be given up for it.
 */
export class Worker {
  private readonly partitions = new Map<number, Partition>();
  private readonly devices = new Map<string, Device>();
  private readonly first: Lane;
  private readonly again = laneOf(1);
  private readonly unsubscribe: () => void;
  /** Tells the claims of this worker from those of all others. */
  private readonly name = randomUUID();
  private claims = 0;
  /** How long acknowledgements have taken of late, at most; in ms. */
  private usual = 0;
  private isLooking = false;
  private isClosed = false;
  private cancelLook = none;

  constructor(private readonly options: WorkerOptions) {
    this.first = laneOf(options.inFlight);
    this.unsubscribe = options.store.subscribe(ACKNOWLEDGED, (token) => this.acknowledged(token));
  }

  /** Starts with a partition, at the oldest unacknowledged upload of each device. */
  gained(partition: number): void {
    this.lost(partition);
    const unsubscribe = this.options.store.subscribe(queueTopic(partition), (chipids) =>
      this.appended(partition, chipids),
    );
    this.partitions.set(partition, { devices: new Set(), isKnown: false, unsubscribe });
    this.lookSoon();
  }

  /** Leaves a partition at once: unacknowledged jobs will be delivered elsewhere. */
  lost(partition: number): void {
    const known = this.partitions.get(partition);
    if (!known) return;
    known.unsubscribe();
    this.partitions.delete(partition);
    for (const device of known.devices) this.forget(device);
    this.fill();
  }

  /** Work on the partitions may be allowed again. */
  wake(): void {
    this.fill();
  }

  /** Whether it works on the partition of a job. */
  has(token: string): boolean {
    return this.partitions.has(partitionOf(TOKEN.exec(token)?.[1] ?? ''));
  }

  /** A job was acknowledged, here or elsewhere. @param left how many uploads of its device are left, if that is known */
  acknowledged(token: string, left?: number): void {
    const [, chipid = '', id] = TOKEN.exec(token) ?? [];
    const device = this.devices.get(chipid);
    if (!device) return;
    if (device.isClaiming) {
      device.acknowledged = id;
      return;
    }
    const { delivered } = device;
    if (!delivered || delivered.id !== id) return;
    this.learn(this.options.clock.monotonic() - delivered.at);
    this.stop(device);
    this.proceed(device, left === 0);
    this.fill();
  }

  close(): void {
    this.isClosed = true;
    this.cancelLook();
    this.unsubscribe();
    for (const partition of [...this.partitions.keys()]) this.lost(partition);
  }

  /** Other members append uploads: a message has the devices. */
  private appended(partition: number, chipids: string): void {
    if (this.partitions.get(partition)?.isKnown !== true) return;
    for (const chipid of chipids.split(',')) {
      const device = this.devices.get(chipid);
      if (device) device.hasNews = true;
      else this.add(chipid, 0);
    }
    this.fill();
  }

  private lookSoon(): void {
    if (this.isLooking || this.isClosed) return;
    this.cancelLook();
    this.cancelLook = this.options.clock.after(0, () => void this.look());
  }

  /** Looks for devices with uploads. */
  private async look(): Promise<void> {
    const { store, clock, mayWork } = this.options;
    this.isLooking = true;
    const looked = [...this.partitions].filter(([partition]) => mayWork(partition));
    const found =
      looked.length === 0
        ? []
        : await store.waiting(looked.map(([partition]) => partition)).catch(() => undefined);
    this.isLooking = false;
    if (this.isClosed) return;
    if (found) for (const [, partition] of looked) partition.isKnown = true;
    for (const { chipid, attempts } of found ?? [])
      if (!this.devices.has(chipid)) this.add(chipid, attempts);
    this.fill();
    const isNew = found && [...this.partitions].some(([, { isKnown }]) => !isKnown);
    this.cancelLook = clock.after(isNew ? LOOK / 10 : LOOK, () => void this.look());
  }

  private add(chipid: string, attempts: number): void {
    const partition = partitionOf(chipid);
    const known = this.partitions.get(partition);
    if (!known || !CHIPID.test(chipid) || this.devices.size >= MOST_DEVICES) return;
    const device: Device = {
      ...{ chipid, partition, attempts, delivered: undefined, claim: undefined, isClaiming: false },
      ...{ acknowledged: undefined, hasNews: false, isOver: false, cancel: none, free: none },
    };
    this.devices.set(chipid, device);
    known.devices.add(device);
    if (attempts === 0) this.first.waiting.add(device);
    // The process that had it has ended, perhaps for another upload's sake. Ended twice, it gets time in between.
    else if (attempts === 1 || attempts >= this.options.attempts) this.again.waiting.add(device);
    else this.rest(device, this.options.redeliver, this.again);
  }

  /** Delivers uploads while there are places for them. */
  private fill(): void {
    for (const lane of [this.first, this.again])
      while (lane.running < lane.places) {
        const device = this.nextOf(lane);
        if (!device) break;
        void this.begin(device, lane);
      }
  }

  private nextOf(lane: Lane): Device | undefined {
    let next: Device | undefined;
    for (const device of lane.waiting) {
      if (!this.options.mayWork(device.partition)) continue;
      if (lane === this.first) return device;
      if (!next || device.attempts < next.attempts) next = device;
    }
    return next;
  }

  private async begin(device: Device, lane: Lane): Promise<void> {
    const { store, mayWork, attempts, buried } = this.options;
    this.occupy(device, lane);
    device.isClaiming = true;
    device.hasNews = false;
    device.acknowledged = undefined;
    device.claim ??= `${this.name}:${++this.claims}`;
    const claim = await store
      .claim(device.chipid, device.claim, attempts)
      .catch((): undefined => undefined);
    device.isClaiming = false;
    if (device.isOver) return;
    if (!claim) {
      device.free();
      this.rest(device, LOOK, lane);
      return;
    }
    device.claim = undefined;
    if (claim.isBuried) buried(device.chipid);
    const { upload } = claim;
    if (!upload || isAcknowledged(device, upload.id)) {
      device.free();
      this.proceed(device, !upload);
    } else if (mayWork(device.partition)) this.deliver(device, lane, upload);
    else {
      device.free();
      device.attempts = upload.attempts;
      this.again.waiting.add(device);
    }
    this.fill();
  }

  private occupy(device: Device, lane: Lane): void {
    lane.waiting.delete(device);
    lane.running++;
    device.free = () => {
      lane.running--;
      device.free = none;
    };
  }

  private deliver(device: Device, lane: Lane, { id, attempts, text }: ClaimedUpload): void {
    const { clock, redeliver, deliver } = this.options;
    const { chipid } = device;
    device.attempts = attempts;
    device.delivered = { id, at: clock.monotonic() };
    const patience = lane === this.first ? this.patience : PATIENCE.least;
    const cancels = [
      clock.after(Math.min(patience, redeliver), () => {
        device.free();
        this.fill();
      }),
      clock.after(redeliver, () => {
        device.free();
        this.again.waiting.add(device);
        this.fill();
      }),
    ];
    device.cancel = () => cancels.forEach((cancel) => cancel());
    deliver({ chipid, upload: text, token: `${chipid}:${id}`, isRedelivered: attempts > 1 });
  }

  private get patience(): number {
    return Math.max(
      this.options.redeliver * PATIENCE.part,
      PATIENCE.least,
      this.usual * PATIENCE.usual,
    );
  }

  private learn(ms: number): void {
    this.usual = Math.max(ms, this.usual * FADES);
  }

  /** Continues with a device whose first upload was acknowledged. @param isEmpty whether it has no other */
  private proceed(device: Device, isEmpty: boolean): void {
    device.delivered = undefined;
    device.attempts = 0;
    if (isEmpty && !device.hasNews) this.forget(device);
    else this.first.waiting.add(device);
  }

  private rest(device: Device, ms: number, lane: Lane): void {
    device.cancel = this.options.clock.after(ms, () => {
      lane.waiting.add(device);
      this.fill();
    });
  }

  private stop(device: Device): void {
    device.cancel();
    device.cancel = none;
    device.free();
    for (const lane of [this.first, this.again]) lane.waiting.delete(device);
  }

  private forget(device: Device): void {
    this.stop(device);
    device.isOver = true;
    this.devices.delete(device.chipid);
    this.partitions.get(device.partition)?.devices.delete(device);
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
  const [, chipid, id] = TOKEN.exec(token) ?? [];
  if (chipid === undefined || id === undefined) return false;
  const left = await store.acknowledge(chipid, id);
  // Another process may have delivered it. If this message gets lost, the next claim shows it.
  if (worker?.has(token)) worker.acknowledged(token, left);
  else await store.publish(ACKNOWLEDGED, token).catch(() => undefined);
  return left !== undefined;
}
