import { hash32 } from '../util/hash32';
import type { Clock, BeatReply, Holding, Pool, Share } from './store';

/** Devices are shared by slot, so that the cost of a beat does not depend on their number. */
export const SLOTS = 256;

/** The queue's streams; each is leased like a slot, under a number that follows the last one of the devices. */
export const PARTITIONS = 64;

/** The slot numbers of each pool: the first, and the first number after the last. */
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

/** How far a slot is held: `unknown` to the store at present, and not used. `leaving`: something of it may be unwritten. */
type SlotState = 'usable' | 'unknown' | 'leaving' | 'free';

/** The slots of one member as it knows them. */
export class HeldSlots {
  readonly #slots = new Map<number, { readonly epoch: number; state: SlotState }>();

  get holdings(): Holding[] {
    return [...this.#in('usable'), ...this.#in('unknown')];
  }

  /** The slots that the store may assign to others. */
  get released(): Holding[] {
    return this.#in('free');
  }

  /** The epoch under which a slot is held, or was until it began to be released. */
  epochOf(slot: number): number | undefined {
    const held = this.#slots.get(slot);
    return held?.state === 'free' ? undefined : held?.epoch;
  }

  has(slot: number): boolean {
    const state = this.#slots.get(slot)?.state;
    return state === 'usable' || state === 'unknown';
  }

  isUsable(slot: number): boolean {
    return this.#slots.get(slot)?.state === 'usable';
  }

  /** @param isConfirmed whether the reply can be trusted to show the present */
  update(reply: BeatReply, isConfirmed: boolean): SlotChanges {
    const mine = new Map(reply.mine.map(({ slot, epoch }) => [slot, epoch]));
    const missing = new Set(reply.behind);
    const changes = { lost: [] as number[], gained: [] as number[], behind: [] as Holding[] };
    for (const [slot, held] of this.#slots) {
      const isMine = mine.get(slot) === held.epoch;
      if (this.has(slot) && isMine && isConfirmed) held.state = 'usable';
      else if (this.has(slot) && missing.has(slot)) {
        held.state = 'unknown';
        changes.behind.push({ slot, epoch: held.epoch });
      } else if (!isMine) {
        if (this.has(slot)) changes.lost.push(slot);
        this.#slots.delete(slot);
      }
    }
    // Slots that are new to this member may be outdated: only a store that has settled assigns slots.
    if (reply.isSettled)
      for (const [slot, epoch] of mine) {
        if (this.#slots.has(slot)) continue;
        this.#slots.set(slot, { epoch, state: 'usable' });
        changes.gained.push(slot);
      }
    return changes;
  }

  /**
   * Stops using the slots above the shares, the highest ones, without freeing them yet.
   * @param surplus how many they are by the store's count, which includes the slots that are being given up
   */
  giveUp(surplus: BeatReply['surplus']): Holding[] {
    return (['devices', 'queue'] as const).flatMap((pool) => {
      const [first, end] = POOLS[pool];
      const all = [...this.#slots].filter(([slot]) => slot >= first && slot < end);
      const held = all.filter(([slot]) => this.has(slot)).sort(([a], [b]) => b - a);
      const given = held.slice(0, Math.max(0, surplus[pool] - (all.length - held.length)));
      for (const [, each] of given) each.state = 'leaving';
      return given.map(([slot, { epoch }]) => ({ slot, epoch }));
    });
  }

  /** Frees slots that were given up, with the next beat. */
  release(holdings: readonly Holding[]): void {
    for (const { slot, epoch } of holdings) {
      const held = this.#slots.get(slot);
      if (held?.epoch === epoch && held.state === 'leaving') held.state = 'free';
    }
  }

  /** @returns whether it was held */
  drop(slot: number): boolean {
    return this.has(slot) && this.#slots.delete(slot);
  }

  #in(state: SlotState): Holding[] {
    const all = [...this.#slots].filter(([, held]) => held.state === state);
    return all.map(([slot, { epoch }]) => ({ slot, epoch }));
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
  readonly #beatSoon: () => void;
  readonly #users: Record<DeviceUse, number> = { listens: 0, follows: 0 };
  /** Cancel the ends of uses that are over. */
  readonly #ending = new Set<() => void>();
  #isClosed = false;

  /** @param beatSoon has the store know what is claimed */
  constructor(clock: Clock, beatSoon: () => void) {
    this.#clock = clock;
    this.#beatSoon = beatSoon;
  }

  get current(): Share[] {
    if (this.#users.listens > 0) return ['devices'];
    return this.#users.follows > 0 ? ['spare devices'] : [];
  }

  /** @returns a function that ends the use; the claim ends some seconds after the last one */
  use(use: DeviceUse): () => void {
    if (this.#users[use]++ === 0) this.#beatSoon();
    let isOver = false;
    return () => {
      if (isOver || this.#isClosed) return;
      isOver = true;
      const cancel = this.#clock.after(KEPT, () => {
        this.#ending.delete(cancel);
        if (--this.#users[use] === 0) this.#beatSoon();
      });
      this.#ending.add(cancel);
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#ending) cancel();
  }
}
