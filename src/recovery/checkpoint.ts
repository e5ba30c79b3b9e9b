/** The factor by which a long history is read less often at most: each reading fetches all of it. */
const DEEP = 10;
/** The factor by which it is read more often while all devices together remember too many arrivals. */
const EARLY = 8;

/**
 * Decides after how many arrivals the history of a device is read to advance its position: after half as many as
 * the history holds, so that whatever is missed until then fits into the other half.
 */
export class Checkpoint {
  private usual: number;
  /** Half the length of a history that no longer reached back to the position. */
  private reach = Infinity;

  /** @param least number of arrivals, unless the history turns out to be shorter */
  constructor(private readonly least: number) {
    this.usual = least;
  }

  /** With more arrivals than this, all that is known of the device is forgotten if memory runs out. */
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
