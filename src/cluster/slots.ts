import { hash32 } from '../util/hash32';
import type { Clock } from './clock';
import type { BeatReply, Holding, Pool, Share } from './store';

/** Devices are shared by slot, so that the cost of a beat does not depend on their number. */
export const SLOTS = 256;

/** The queue's streams; each is leased like a slot, under a number that follows the last one of the devices. */
export const PARTITIONS = 64;

/** The slot numbers of each pool: the first, and the first number after it. */
export const POOLS: Readonly<Record<Pool, readonly [first: number, end: number]>> = {
  devices: [0, SLOTS],
  queue: [SLOTS, SLOTS + PARTITIONS],
};

/** The slot of a device. All versions of the package must agree on it: it decides who emits. */
export const slotOf = (chipid: string): number => hash32(chipid) % SLOTS;

/** The stream that contains the uploads of a device, from 0. */
export const partitionOf = (chipid: string): number => slotOf(chipid) % PARTITIONS;

/** The number under which a partition is leased. */
export const slotOfPartition = (partition: number): number => SLOTS + partition;

export const partitionOfSlot = (slot: number): number => slot - SLOTS;

export const isPartition = (slot: number): boolean => slot >= SLOTS;

/** The changes of a beat. */
export interface SlotChanges {
  readonly lost: readonly number[];
  readonly gained: readonly number[];
  /** Held, but unknown to the store. */
  readonly behind: readonly Holding[];
}

/** The slots of one member as it knows them. */
export class HeldSlots {
  /** By slot. A slot that the store does not know at present is not used. */
  readonly #held = new Map<number, { epoch: number; isUsable: boolean }>();
  /** No longer used, but not free yet, since something of it may be unwritten: epochs by slot. */
  readonly #leaving = new Map<number, number>();
  readonly #free = new Map<number, number>();

  get holdings(): Holding[] {
    return [...this.#held].map(([slot, { epoch }]) => ({ slot, epoch }));
  }

  /** The slots that the store may assign to others. */
  get released(): Holding[] {
    return [...this.#free].map(([slot, epoch]) => ({ slot, epoch }));
  }

  /** The epoch under which a slot is held, or was until it began to be released. */
  epochOf(slot: number): number | undefined {
    return this.#held.get(slot)?.epoch ?? this.#leaving.get(slot);
  }

  has(slot: number): boolean {
    return this.#held.has(slot);
  }

  isUsable(slot: number): boolean {
    return this.#held.get(slot)?.isUsable === true;
  }

  /** @param isConfirmed whether the reply can be trusted to show the present */
  update(reply: BeatReply, isConfirmed: boolean): SlotChanges {
    const mine = new Map(reply.mine.map(({ slot, epoch }) => [slot, epoch]));
    const missing = new Set(reply.behind);
    const changes = { lost: [] as number[], gained: [] as number[], behind: [] as Holding[] };
    for (const [slot, held] of this.#held) {
      const isMine = mine.get(slot) === held.epoch;
      if (isMine && isConfirmed) held.isUsable = true;
      else if (missing.has(slot)) {
        held.isUsable = false;
        changes.behind.push({ slot, epoch: held.epoch });
      } else if (!isMine) {
        this.#held.delete(slot);
        changes.lost.push(slot);
      }
    }
    for (const going of [this.#leaving, this.#free])
      for (const [slot, epoch] of going) if (mine.get(slot) !== epoch) going.delete(slot);
    // Slots that are new to this member may be outdated: only a store that has settled assigns slots.
    if (reply.isSettled)
      for (const [slot, epoch] of mine) {
        const isGoing = this.#leaving.get(slot) === epoch || this.#free.get(slot) === epoch;
        if (this.#held.has(slot) || isGoing) continue;
        this.#held.set(slot, { epoch, isUsable: true });
        changes.gained.push(slot);
      }
    return changes;
  }

  /**
   * The slots of a pool to be given up: the highest ones.
   * @param surplus how many are above the share by the store's count, which includes the slots that are being given up
   */
  above(pool: Pool, surplus: number): number[] {
    const [first, end] = POOLS[pool];
    const inPool = (slots: Iterable<number>): number[] =>
      [...slots].filter((slot) => slot >= first && slot < end);
    const going = inPool(this.#leaving.keys()).length + inPool(this.#free.keys()).length;
    const slots = inPool(this.#held.keys()).sort((a, b) => b - a);
    return slots.slice(0, Math.max(0, surplus - going));
  }

  /** Stops using slots, without freeing them yet. @returns the slots that were held */
  giveUp(slots: readonly number[]): Holding[] {
    const holdings = this.holdings.filter(({ slot }) => slots.includes(slot));
    for (const { slot, epoch } of holdings) {
      this.#held.delete(slot);
      this.#leaving.set(slot, epoch);
    }
    return holdings;
  }

  /** Frees slots that were given up, with the next beat. */
  release(holdings: readonly Holding[]): void {
    for (const { slot, epoch } of holdings)
      if (this.#leaving.delete(slot)) this.#free.set(slot, epoch);
  }

  /** @returns whether it was held */
  drop(slot: number): boolean {
    return this.#held.delete(slot);
  }
}

/**
 * Milliseconds for which the devices are still claimed after the last use has ended: a deploy ends all listeners and
 * begins them anew, and those to online devices read the list first.
 */
const KEPT = 10_000;

/** `listens`: its uploads are emitted here. `follows`: something here waits for uploads, whichever process emits them. */
export type DeviceUse = 'listens' | 'follows';

/**
 * Whether this process claims a share of the devices. Only a process that listens does, since nothing in another one
 * would open their channels. While no process listens, the processes that follow devices share them.
 */
export class DeviceClaims {
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #users: Record<DeviceUse, number> = { listens: 0, follows: 0 };
  /** Cancel the ends of uses that are over. */
  readonly #ending = new Map<DeviceUse, () => void>();
  #isClosed = false;

  /** @param changed called when the claim has changed */
  constructor(clock: Clock, changed: () => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  get current(): Share[] {
    if (this.#isUsed('listens')) return ['devices'];
    return this.#isUsed('follows') ? ['spare devices'] : [];
  }

  /** @returns a function that ends the use */
  use(use: DeviceUse): () => void {
    const isNew = !this.#isUsed(use);
    this.#users[use]++;
    this.#cancel(use);
    if (isNew) this.#changed();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#users[use] > 0 || this.#isClosed) return;
      const cancel = this.#clock.after(KEPT, () => {
        this.#ending.delete(use);
        this.#changed();
      });
      this.#ending.set(use, cancel);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel('listens');
    this.#cancel('follows');
  }

  #isUsed(use: DeviceUse): boolean {
    return this.#users[use] > 0 || this.#ending.has(use);
  }

  #cancel(use: DeviceUse): void {
    this.#ending.get(use)?.();
    this.#ending.delete(use);
  }
}
