import type { BeatReply, Holding } from './store';

/** The changes of a beat. */
export interface SlotChanges {
  readonly lost: readonly number[];
  readonly gained: readonly Holding[];
  /** Held, but unknown to the store. */
  readonly behind: readonly Holding[];
}

/** The slots of one member as it knows them. */
export class HeldSlots {
  /** By slot. A slot that the store does not know at present is not used. */
  private readonly held = new Map<number, { epoch: number; isUsable: boolean }>();
  /** No longer used, but not free yet, since something of it may be unwritten: epochs by slot. */
  private readonly leaving = new Map<number, number>();
  private readonly free = new Map<number, number>();

  get holdings(): Holding[] {
    return [...this.held].map(([slot, { epoch }]) => ({ slot, epoch }));
  }

  /** The slots that the store may assign to others. */
  get released(): Holding[] {
    return [...this.free].map(([slot, epoch]) => ({ slot, epoch }));
  }

  /** The epoch under which a slot is held, or was until it began to be released. */
  epochOf(slot: number): number | undefined {
    return this.held.get(slot)?.epoch ?? this.leaving.get(slot);
  }

  has(slot: number): boolean {
    return this.held.has(slot);
  }

  isUsable(slot: number): boolean {
    return this.held.get(slot)?.isUsable === true;
  }

  /** @param isConfirmed whether the reply can be trusted to show the present */
  update(reply: BeatReply, isConfirmed: boolean): SlotChanges {
    const mine = new Map(reply.mine.map(({ slot, epoch }) => [slot, epoch]));
    const missing = new Set(reply.behind);
    const changes = { lost: [] as number[], gained: [] as Holding[], behind: [] as Holding[] };
    for (const [slot, held] of this.held) {
      const isMine = mine.get(slot) === held.epoch;
      if (isMine && isConfirmed) held.isUsable = true;
      else if (missing.has(slot)) {
        held.isUsable = false;
        changes.behind.push({ slot, epoch: held.epoch });
      } else if (!isMine) {
        this.held.delete(slot);
        changes.lost.push(slot);
      }
    }
    for (const leaving of [this.leaving, this.free]) {
      for (const [slot, epoch] of leaving) if (mine.get(slot) !== epoch) leaving.delete(slot);
    }
    // Slots that are new to this member may be outdated: only a store that has settled assigns slots.
    if (reply.isSettled) this.gain(reply.mine, changes.gained);
    return changes;
  }

  private gain(mine: readonly Holding[], gained: Holding[]): void {
    for (const { slot, epoch } of mine) {
      const isLeaving = this.leaving.get(slot) === epoch || this.free.get(slot) === epoch;
      if (this.held.has(slot) || isLeaving) continue;
      this.held.set(slot, { epoch, isUsable: true });
      gained.push({ slot, epoch });
    }
  }

  /**
   * The slots of a range to be given up: the highest ones.
   * @param surplus how many are above the share by the store's count, which includes those that are being given up
   */
  above([first, end]: readonly [number, number], surplus: number): number[] {
    if (surplus === 0) return [];
    const inRange = (slots: Iterable<number>): number[] =>
      [...slots].filter((slot) => slot >= first && slot < end);
    const going = inRange(this.leaving.keys()).length + inRange(this.free.keys()).length;
    const slots = inRange(this.held.keys()).sort((a, b) => b - a);
    return slots.slice(0, Math.max(0, surplus - going));
  }

  /** Stops using a slot, without freeing it yet. */
  giveUp(slot: number): Holding | undefined {
    const held = this.held.get(slot);
    if (!held) return undefined;
    this.held.delete(slot);
    this.leaving.set(slot, held.epoch);
    return { slot, epoch: held.epoch };
  }

  /** Frees slots that were given up, with the next beat. */
  release(holdings: readonly Holding[]): void {
    for (const { slot, epoch } of holdings) {
      if (!this.leaving.delete(slot)) continue;
      this.free.set(slot, epoch);
    }
  }

  /** @returns whether it was held */
  drop(slot: number): boolean {
    return this.held.delete(slot);
  }
}
