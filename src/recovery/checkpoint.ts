/** A deep history is read less often, by up to this factor: each reading takes the whole of it. */
const DEEP = 10;
/** By this factor it is read more often if all devices together remember too many arrivals. */
const EARLY = 8;

/**
 * After how many arrivals the history of a device is read to move its position on: half of what the history
 * shows, so that what may be missed then fits into the other half.
 */
export class Checkpoint {
  private usual: number;
  /** Half of a history that was found to reach back no further. */
  private reach = Infinity;

  /** @param least arrivals, where the history is not found to be shorter */
  constructor(private readonly least: number) {
    this.usual = least;
  }

  /** Arrivals that are given up rather than kept if memory for them runs out. */
  get most(): number {
    return Math.min(this.usual, this.least);
  }

  /** @param isPressed whether all devices together remember nearly as much as they may */
  due(isPressed: boolean): number {
    return isPressed ? Math.min(this.usual, this.least / EARLY) : this.usual;
  }

  /**
   * A history has been read.
   * @param isTruncated whether it no longer reached back to the position
   */
  read(records: number, isTruncated: boolean): void {
    const half = Math.ceil(records / 2);
    if (isTruncated) this.reach = Math.min(this.reach, half);
    this.usual = Math.min(this.reach, Math.max(this.least, Math.min(half, DEEP * this.least)));
  }
}
