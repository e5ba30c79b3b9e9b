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

const CHIPID = /^\d{1,20}$/;
const TOKEN = /^(\d{1,20}):(\d{1,20}(?:-\d{1,20})?)$/;

/** The device and the id in a token; undefined for anything else: a flow may have changed it on its message. */
export function readToken(token: unknown): [chipid: string, id: string] | undefined {
  const [, chipid = '', id = ''] = (typeof token === 'string' && TOKEN.exec(token)) || [];
  return chipid === '' ? undefined : [chipid, id];
}

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
  readonly store: Pick<Store, 'waiting' | 'claim' | 'subscribe'>;
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

const none = (): void => undefined;

/** A device with uploads in the queue. Its first one is delivered; the others wait until that is acknowledged. */
class QueuedDevice {
  /** The upload that was delivered last, unless it is acknowledged, and when. */
  delivered: { readonly id: string; readonly at: number } | undefined = undefined;
  /** The claim that is on its way, under which it may be repeated without being counted again. */
  claim: string | undefined = undefined;
  isClaiming = false;
  /** The upload that was acknowledged meanwhile. */
  acknowledged: string | undefined = undefined;
  /** Whether an upload may have been appended since the last claim. */
  hasNews = false;
  isOver = false;
  /** Ends its timers. */
  cancel = none;
  /** Gives back its place, if it has one. */
  free = none;

  constructor(
    readonly chipid: string,
    readonly partition: number,
    /** How often its first upload was delivered, in any process. */
    public attempts: number,
  ) {}
}

/** Devices that wait for a place, in the order of arrival. */
interface Lane {
  readonly waiting: Set<QueuedDevice>;
  readonly places: number;
  running: number;
}

const laneOf = (places: number): Lane => ({ waiting: new Set(), places, running: 0 });

interface Partition {
  readonly devices: Set<QueuedDevice>;
  /** Whether it is known how often its uploads were delivered before it came here. */
  isKnown: boolean;
  readonly unsubscribe: () => void;
}

/**
 * Works on the partitions that this process has leased: delivers the uploads of one device in order, each after the
 * previous one was acknowledged, and the uploads of different devices concurrently.
 *
 * What was delivered before goes one at a time, what was delivered least often first. So neither many devices that are
 * never acknowledged take the places of the others, nor does an upload that ends the process each time have others
 * delivered along with it, that would be given up for it.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #partitions = new Map<number, Partition>();
  readonly #devices = new Map<string, QueuedDevice>();
  readonly #first: Lane;
  readonly #again = laneOf(1);
  /** Distinguishes the claims of this worker from the claims of all others. */
  readonly #name = randomUUID();
  #claims = 0;
  /** How long acknowledgements have taken of late, at most; in ms. */
  #usual = 0;
  #isLooking = false;
  #isClosed = false;
  #cancelLook = none;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#first = laneOf(options.inFlight);
  }

  /** Starts with a partition, at the oldest unacknowledged upload of each device. */
  gained(partition: number): void {
    this.lost(partition);
    const unsubscribe = this.#options.store.subscribe(queueTopic(partition), (chipids) =>
      this.#appended(partition, chipids),
    );
    this.#partitions.set(partition, { devices: new Set(), isKnown: false, unsubscribe });
    if (!this.#isLooking) this.#lookIn(0);
  }

  /** Leaves a partition at once: unacknowledged jobs will be delivered elsewhere. */
  lost(partition: number): void {
    const known = this.#partitions.get(partition);
    if (!known) return;
    known.unsubscribe();
    this.#partitions.delete(partition);
    for (const device of known.devices) this.#forget(device);
    this.fill();
  }

  /** Whether it works on the partition of a device. */
  has(chipid: string): boolean {
    return this.#partitions.has(partitionOf(chipid));
  }

  /** A job was acknowledged, here or elsewhere. @param left how many uploads of its device are left, if that is known */
  acknowledged(chipid: string, id: string, left?: number): void {
    const device = this.#devices.get(chipid);
    if (!device) return;
    if (device.isClaiming) {
      device.acknowledged = id;
      return;
    }
    const { delivered } = device;
    if (!delivered || delivered.id !== id) return;
    this.#usual = Math.max(this.#options.clock.monotonic() - delivered.at, this.#usual * FADES);
    this.#stop(device);
    this.#proceed(device, left === 0);
    this.fill();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook();
    for (const partition of [...this.#partitions.keys()]) this.lost(partition);
  }

  /** Delivers uploads while there are places for them; also called when work may be allowed again. */
  fill(): void {
    for (const lane of [this.#first, this.#again])
      while (lane.running < lane.places) {
        const device = this.#nextOf(lane);
        if (!device) break;
        void this.#begin(device, lane);
      }
  }

  /** Other members append uploads: a message has the devices. */
  #appended(partition: number, chipids: string): void {
    if (this.#partitions.get(partition)?.isKnown !== true) return;
    for (const chipid of chipids.split(',')) {
      const device = this.#devices.get(chipid);
      if (device) device.hasNews = true;
      else this.#add(chipid, 0);
    }
    this.fill();
  }

  #lookIn(ms: number): void {
    this.#cancelLook();
    if (!this.#isClosed) this.#cancelLook = this.#options.clock.after(ms, () => void this.#look());
  }

  /** Looks for devices with uploads. */
  async #look(): Promise<void> {
    const { store, mayWork } = this.#options;
    this.#isLooking = true;
    const looked = [...this.#partitions].filter(([partition]) => mayWork(partition));
    const found =
      looked.length === 0
        ? []
        : await store.waiting(looked.map(([partition]) => partition)).catch(() => undefined);
    this.#isLooking = false;
    if (this.#isClosed) return;
    if (found) for (const [, partition] of looked) partition.isKnown = true;
    for (const { chipid, attempts } of found ?? [])
      if (!this.#devices.has(chipid)) this.#add(chipid, attempts);
    this.fill();
    const isNew = found && [...this.#partitions].some(([, { isKnown }]) => !isKnown);
    this.#lookIn(isNew ? LOOK / 10 : LOOK);
  }

  #add(chipid: string, attempts: number): void {
    const partition = partitionOf(chipid);
    const known = this.#partitions.get(partition);
    if (!known || !CHIPID.test(chipid) || this.#devices.size >= MOST_DEVICES) return;
    const device = new QueuedDevice(chipid, partition, attempts);
    this.#devices.set(chipid, device);
    known.devices.add(device);
    if (attempts === 0) this.#first.waiting.add(device);
    // The process that had it has ended, perhaps for another upload's sake. Ended twice, it gets time in between.
    else if (attempts === 1 || attempts >= this.#options.attempts) this.#again.waiting.add(device);
    else this.#rest(device, this.#options.redeliver, this.#again);
  }

  #nextOf(lane: Lane): QueuedDevice | undefined {
    let next: QueuedDevice | undefined;
    for (const device of lane.waiting) {
      if (!this.#options.mayWork(device.partition)) continue;
      if (lane === this.#first) return device;
      if (!next || device.attempts < next.attempts) next = device;
    }
    return next;
  }

  async #begin(device: QueuedDevice, lane: Lane): Promise<void> {
    const { store, mayWork, attempts, buried } = this.#options;
    lane.waiting.delete(device);
    lane.running++;
    device.free = () => {
      lane.running--;
      device.free = none;
    };
    device.isClaiming = true;
    device.hasNews = false;
    device.acknowledged = undefined;
    device.claim ??= `${this.#name}:${++this.#claims}`;
    const claim = await store
      .claim(device.chipid, device.claim, attempts)
      .catch((): undefined => undefined);
    device.isClaiming = false;
    if (device.isOver) return;
    if (!claim) {
      device.free();
      this.#rest(device, LOOK, lane);
      return;
    }
    device.claim = undefined;
    if (claim.isBuried) buried(device.chipid);
    const { upload } = claim;
    if (upload && !wasAcknowledged(device, upload.id) && mayWork(device.partition))
      this.#deliver(device, lane, upload);
    else {
      device.free();
      if (!upload || wasAcknowledged(device, upload.id)) this.#proceed(device, !upload);
      else {
        device.attempts = upload.attempts;
        this.#again.waiting.add(device);
      }
    }
    this.fill();
  }

  #deliver(device: QueuedDevice, lane: Lane, { id, attempts, text }: ClaimedUpload): void {
    const { clock, redeliver, deliver } = this.#options;
    const { chipid } = device;
    device.attempts = attempts;
    device.delivered = { id, at: clock.monotonic() };
    const usual = Math.max(redeliver * PATIENCE.part, this.#usual * PATIENCE.usual);
    const patience = lane === this.#first ? Math.max(usual, PATIENCE.least) : PATIENCE.least;
    const cancels = [
      clock.after(Math.min(patience, redeliver), () => {
        device.free();
        this.fill();
      }),
      clock.after(redeliver, () => {
        device.free();
        this.#again.waiting.add(device);
        this.fill();
      }),
    ];
    device.cancel = () => cancels.forEach((cancel) => cancel());
    deliver({ chipid, upload: text, token: `${chipid}:${id}`, isRedelivered: attempts > 1 });
  }

  /** Continues with a device whose first upload was acknowledged. @param isEmpty whether it has no other */
  #proceed(device: QueuedDevice, isEmpty: boolean): void {
    device.delivered = undefined;
    device.attempts = 0;
    if (isEmpty && !device.hasNews) this.#forget(device);
    else this.#first.waiting.add(device);
  }

  #rest(device: QueuedDevice, ms: number, lane: Lane): void {
    device.cancel = this.#options.clock.after(ms, () => {
      lane.waiting.add(device);
      this.fill();
    });
  }

  #stop(device: QueuedDevice): void {
    device.cancel();
    device.cancel = none;
    device.free();
    for (const lane of [this.#first, this.#again]) lane.waiting.delete(device);
  }

  #forget(device: QueuedDevice): void {
    this.#stop(device);
    device.isOver = true;
    this.#devices.delete(device.chipid);
    this.#partitions.get(device.partition)?.devices.delete(device);
  }
}

/** Whether an upload was acknowledged while it was being claimed. */
const wasAcknowledged = (device: QueuedDevice, id: string): boolean => device.acknowledged === id;
