import { randomUUID } from 'node:crypto';
import { DeviceCloudError, invalidInput } from '../errors';
import { show } from '../util/show';
import { isolated } from '../util/thrown';
import type { Faults } from './faults';
import type { Membership } from './membership';
import { isChipid, uploadFromText } from './messages';
import { partitionOf, partitionOfSlot, slotOfPartition } from './slots';
import { type Clock, queueTopic, type ClaimedUpload, type Store } from './store';
import type { ClusterWork } from './types';

/** The topic of the tokens that a process has acknowledged which does not work on their partition. */
const ACKNOWLEDGED = 'acknowledged';

/** Milliseconds between two looks at the queue without a message, since a published message may get lost. */
const LOOK = 1000;

/** The most devices that are known at a time. */
const MOST_DEVICES = 20_000;

/** The limits of {@link ClusterWork}. */
const MOST = { inFlight: 10_000, redeliver: 86_400_000, attempts: 1000 };

/**
 * How long an upload that is not acknowledged counts as in flight: a part of `redeliver`, at least the milliseconds in
 * `least`, and at least twice the usual time of an acknowledgement. After that, another device can take its place.
 */
const PATIENCE = { part: 1 / 10, least: 1000, usual: 2 };

/** How much of the longest time to an acknowledgement is left with each shorter one. */
const FADES = 0.9;

const TOKEN = /^(\d{1,20}):(\d{1,20}(?:-\d{1,20})?)$/;

/** The device and the id in a token; undefined for anything else: a flow may have changed it on its message. */
function readToken(token: unknown): readonly [chipid: string, id: string] | undefined {
  const [, chipid = '', id = ''] = (typeof token === 'string' && TOKEN.exec(token)) || [];
  return chipid === '' ? undefined : [chipid, id];
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

  wasAcknowledged(id: string): boolean {
    return this.acknowledged === id;
  }
}

/** Devices that wait for a place, in the order of arrival. */
const laneOf = (places: number) => ({ waiting: new Set<QueuedDevice>(), places, running: 0 });

type Lane = ReturnType<typeof laneOf>;

/** A partition that this process holds. */
interface Partition {
  /** Whether it is known how often its uploads were delivered before it came here. */
  isKnown: boolean;
  readonly unsubscribe: () => void;
}

/** How this process works on the queue. */
interface Work extends Required<ClusterWork> {
  readonly first: Lane;
  readonly again: Lane;
  readonly unsubscribe: () => void;
}

/**
 * The partitions of the queue that this process holds, and its work on them: delivers the uploads of one device in order,
 * each after the previous one was acknowledged, and the uploads of different devices concurrently.
 *
 * What was delivered before goes one at a time, what was delivered least often first. So neither many devices that are
 * never acknowledged take the places of the others, nor does an upload that ends the process each time have others
 * delivered along with it, that would be given up for it.
 */
export class Queue {
  readonly #store: Pick<Store, 'waiting' | 'claim' | 'acknowledge' | 'publish' | 'subscribe'>;
  readonly #clock: Clock;
  readonly #membership: Pick<Membership, 'mayAct'>;
  readonly #faults: Pick<Faults, 'report'>;
  /** Those that it holds. */
  readonly #partitions = new Map<number, Partition>();
  readonly #devices = new Map<string, QueuedDevice>();
  #work: Work | undefined;
  /** Distinguishes the claims of this process from the claims of all others. */
  readonly #name = randomUUID();
  #claims = 0;
  /** How long acknowledgements have taken of late, at most; in ms. */
  #usual = 0;
  #isLooking = false;
  #cancelLook = none;

  constructor(
    store: Store,
    clock: Clock,
    membership: Pick<Membership, 'mayAct'>,
    faults: Pick<Faults, 'report'>,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#membership = membership;
    this.#faults = faults;
  }

  /** Whether it claims a share of the queue. */
  get isWorking(): boolean {
    return this.#work !== undefined;
  }

  /** @throws DeviceCloudError as `work` of a member */
  work({ inFlight = 16, redeliver = 60_000, attempts = 5, deliver }: ClusterWork): () => void {
    if (!(Number.isInteger(inFlight) && inFlight >= 1 && inFlight <= MOST.inFlight))
      throw invalidInput(`inFlight must be a whole number from 1 to ${MOST.inFlight}.`);
    if (!(typeof redeliver === 'number' && redeliver >= 1000 && redeliver <= MOST.redeliver))
      throw invalidInput(`redeliver must be from 1 to ${MOST.redeliver / 1000} s.`);
    if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= MOST.attempts))
      throw invalidInput(`attempts must be a whole number from 1 to ${MOST.attempts}.`);
    if (typeof deliver !== 'function') throw invalidInput('deliver must be a function.');
    if (this.#work)
      throw new DeviceCloudError(
        'NOT_CONFIGURED',
        'This process works on the queue of the application already. Only one can do so in a process.',
      );
    const unsubscribe = this.#store.subscribe(ACKNOWLEDGED, (token) => {
      const [chipid, id] = readToken(token) ?? [];
      if (chipid !== undefined && id !== undefined) this.#acknowledged(chipid, id);
    });
    const lanes = { first: laneOf(inFlight), again: laneOf(1) };
    const work = { inFlight, redeliver, attempts, deliver, ...lanes, unsubscribe };
    this.#work = work;
    this.#lookIn(0);
    return () => {
      if (this.#work === work) this.close();
    };
  }

  /** This process holds a partition: it starts at the oldest unacknowledged upload of each device. */
  gained(slot: number): void {
    const partition = partitionOfSlot(slot);
    const unsubscribe = this.#store.subscribe(queueTopic(partition), (chipids) =>
      this.#appended(partition, chipids),
    );
    this.#partitions.set(partition, { isKnown: false, unsubscribe });
    if (!this.#isLooking) this.#lookIn(0);
  }

  /** It leaves a partition at once: unacknowledged uploads will be delivered elsewhere. */
  lost(slot: number): void {
    const partition = partitionOfSlot(slot);
    this.#partitions.get(partition)?.unsubscribe();
    this.#partitions.delete(partition);
    for (const device of this.#devices.values())
      if (device.partition === partition) this.#forget(device);
    this.fill();
  }

  /**
   * Acknowledges an upload, whichever process delivered it.
   * @returns whether it had not been acknowledged before
   * @throws DeviceCloudError `INVALID_INPUT` if it is not a token. @throws StoreError
   */
  async acknowledge(token: string): Promise<boolean> {
    const read = readToken(token);
    if (!read)
      throw invalidInput(
        `An upload of the queue is acknowledged by its token, a text such as 10000001:1700000000000-0, but this is ${show(token)}.`,
      );
    const [chipid, id] = read;
    const left = await this.#store.acknowledge(chipid, id);
    // Another process may have delivered it. If this message gets lost, the next claim shows it.
    if (this.#partitions.has(partitionOf(chipid))) this.#acknowledged(chipid, id, left);
    else await this.#store.publish(ACKNOWLEDGED, token).catch(none);
    return left !== undefined;
  }

  /** Delivers uploads while there are places for them; also called when work may be allowed again. */
  fill(): void {
    for (const lane of this.#work ? [this.#work.first, this.#work.again] : [])
      while (lane.running < lane.places) {
        const device = this.#nextOf(lane);
        if (!device) break;
        void this.#claim(device, lane);
      }
  }

  /** Ends the work. */
  close(): void {
    this.#work?.unsubscribe();
    this.#work = undefined;
    this.#cancelLook();
    for (const partition of this.#partitions.values()) partition.isKnown = false;
    for (const device of this.#devices.values()) this.#forget(device);
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

  /** An upload was acknowledged, here or elsewhere. @param left how many its device has left, if that is known */
  #acknowledged(chipid: string, id: string, left?: number): void {
    const device = this.#devices.get(chipid);
    if (device?.isClaiming) device.acknowledged = id;
    if (!device || device.isClaiming || device.delivered?.id !== id) return;
    const took = this.#clock.monotonic() - device.delivered.at;
    this.#usual = Math.max(took, this.#usual * FADES);
    this.#stop(device);
    this.#proceed(device, left === 0);
    this.fill();
  }

  #lookIn(ms: number): void {
    this.#cancelLook();
    if (this.#work) this.#cancelLook = this.#clock.after(ms, () => void this.#look());
  }

  /** Looks for devices with uploads. */
  async #look(): Promise<void> {
    const work = this.#work;
    this.#isLooking = true;
    const looked = [...this.#partitions].filter(([partition]) => this.#mayWork(partition));
    const numbers = looked.map(([partition]) => partition);
    const waiting = numbers.length === 0 ? [] : this.#store.waiting(numbers);
    const found = await Promise.resolve(waiting).catch(() => undefined);
    this.#isLooking = false;
    if (found && work === this.#work) for (const [, partition] of looked) partition.isKnown = true;
    for (const { chipid, attempts } of found ?? [])
      if (!this.#devices.has(chipid)) this.#add(chipid, attempts);
    this.fill();
    const isNew = found && [...this.#partitions.values()].some(({ isKnown }) => !isKnown);
    this.#lookIn(isNew ? LOOK / 10 : LOOK);
  }

  #add(chipid: string, attempts: number): void {
    const partition = partitionOf(chipid);
    const isFull = this.#devices.size >= MOST_DEVICES;
    if (!this.#partitions.has(partition) || !this.#work || !isChipid(chipid) || isFull) return;
    const { redeliver, attempts: most } = this.#work;
    const device = new QueuedDevice(chipid, partition, attempts);
    this.#devices.set(chipid, device);
    // The process that had it has ended, perhaps for another upload's sake. Ended twice, it gets time in between.
    if (attempts > 1 && attempts < most) this.#rest(device, redeliver);
    else this.#enqueue(device);
  }

  #mayWork(partition: number): boolean {
    return this.#membership.mayAct(slotOfPartition(partition));
  }

  #nextOf(lane: Lane): QueuedDevice | undefined {
    let next: QueuedDevice | undefined;
    for (const device of lane.waiting) {
      if (!this.#mayWork(device.partition)) continue;
      if (lane === this.#work?.first) return device;
      if (!next || device.attempts < next.attempts) next = device;
    }
    return next;
  }

  async #claim(device: QueuedDevice, lane: Lane): Promise<void> {
    const work = this.#work;
    if (!work) return;
    const { chipid } = device;
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
    const claim = await this.#store
      .claim(chipid, device.claim, work.attempts)
      .catch((): undefined => undefined);
    device.isClaiming = false;
    if (device.isOver) return;
    if (!claim) {
      device.free();
      this.#rest(device, LOOK);
      return;
    }
    device.claim = undefined;
    if (claim.isBuried)
      this.#faults.report(
        `An upload of device ${chipid} was delivered ${work.attempts} times and never acknowledged, and is a dead letter now.`,
        'dead letter',
      );
    const { upload } = claim;
    const isOpen = upload && !device.wasAcknowledged(upload.id);
    if (isOpen && this.#mayWork(device.partition)) this.#deliver(device, work, upload);
    else {
      device.free();
      if (isOpen) {
        device.attempts = upload.attempts;
        this.#enqueue(device);
      } else this.#proceed(device, !upload);
    }
    this.fill();
  }

  #deliver(device: QueuedDevice, work: Work, { id, attempts, text }: ClaimedUpload): void {
    const { chipid } = device;
    const { redeliver } = work;
    const usual = Math.max(redeliver * PATIENCE.part, this.#usual * PATIENCE.usual);
    const least = device.attempts === 0 ? Math.max(usual, PATIENCE.least) : PATIENCE.least;
    const patience = Math.min(least, redeliver);
    device.attempts = attempts;
    device.delivered = { id, at: this.#clock.monotonic() };
    device.cancel = this.#clock.after(patience, () => {
      device.free();
      this.#rest(device, redeliver - patience);
      this.fill();
    });
    const token = `${chipid}:${id}`;
    const upload = uploadFromText(chipid, text);
    if (upload) {
      isolated(() => work.deliver({ token, chipid, upload, redelivered: attempts > 1 }));
      return;
    }
    // It would hold up all that follow it.
    this.#faults.report('An entry of the queue is not an upload, and was removed.', 'queue entry');
    this.acknowledge(token).catch(none);
  }

  /** Continues with a device whose first upload was acknowledged. @param isEmpty whether it has no other */
  #proceed(device: QueuedDevice, isEmpty: boolean): void {
    device.delivered = undefined;
    device.attempts = 0;
    if (isEmpty && !device.hasNews) this.#forget(device);
    else this.#enqueue(device);
  }

  #enqueue(device: QueuedDevice): void {
    const { first, again } = this.#work ?? {};
    (device.attempts === 0 ? first : again)?.waiting.add(device);
  }

  #rest(device: QueuedDevice, ms: number): void {
    device.cancel = this.#clock.after(ms, () => {
      this.#enqueue(device);
      this.fill();
    });
  }

  #stop(device: QueuedDevice): void {
    device.cancel();
    device.cancel = none;
    device.free();
    this.#work?.first.waiting.delete(device);
    this.#work?.again.waiting.delete(device);
  }

  #forget(device: QueuedDevice): void {
    this.#stop(device);
    device.isOver = true;
    this.#devices.delete(device.chipid);
  }
}
