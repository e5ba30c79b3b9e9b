import type { FencedEntry } from './store';

/** The last position of each device of the held slots, written or not. */
export class KnownPositions {
  private readonly entries = new Map<string, FencedEntry>();
  private readonly dirty = new Set<string>();

  get hasDirty(): boolean {
    return this.dirty.size > 0;
  }

  /** Remembers a position, unless a later one is known. @param isWritten whether it is in the store */
  set(entry: FencedEntry, isWritten: boolean): void {
    const known = this.entries.get(entry.chipid);
    if (known && known.sequence > entry.sequence) return;
    this.entries.set(entry.chipid, entry);
    if (!isWritten) this.dirty.add(entry.chipid);
  }

  get(chipid: string): FencedEntry | undefined {
    return this.entries.get(chipid);
  }

  ofSlot(slot: number): FencedEntry[] {
    return [...this.entries.values()].filter((entry) => entry.slot === slot);
  }

  /** Removes and returns positions to be written. @param may whether one may be written now, called for each */
  drainDirty(may: (entry: FencedEntry) => boolean): FencedEntry[] {
    const drained: FencedEntry[] = [];
    for (const chipid of this.dirty) {
      const entry = this.entries.get(chipid);
      if (entry && !may(entry)) continue;
      this.dirty.delete(chipid);
      if (entry) drained.push(entry);
    }
    return drained;
  }

  /** Marks positions that could not be written. There may be later ones by now, or none. */
  markDirty(entries: readonly FencedEntry[]): void {
    for (const { chipid } of entries) if (this.entries.has(chipid)) this.dirty.add(chipid);
  }

  forget(slot: number): void {
    for (const { chipid } of this.ofSlot(slot)) {
      this.entries.delete(chipid);
      this.dirty.delete(chipid);
    }
  }
}
