/**
 * Whether one device is online, by the readings of the list and its live uploads. A device is online once
 * it is listed or uploads, and offline once it is absent from enough readings in a row. Times are ms by
 * this machine's clock. Each method returns whether `online` has changed.
 */
export class Presence {
  /** Null until a reading or an upload has shown it. */
  online: boolean | null = null;
  /** Since when that is so, as far as is known. */
  since: number | null = null;
  /** When the last live upload arrived. */
  lastUpload: number | null = null;
  /** Readings in a row that lack the device. */
  #misses = 0;
  /** When the first of them began. */
  #absentSince = 0;

  /** A reading that began at `at` has the device. */
  listed(at: number): boolean {
    this.#misses = 0;
    return this.#setState(true, at);
  }

  /** A live upload arrived. */
  uploaded(at: number): boolean {
    this.#misses = 0;
    this.lastUpload = at;
    return this.#setState(true, at);
  }

  /**
   * A reading lacks the device. An upload that arrived after it began is newer.
   * @param began when the reading began, and `ended` when it ended: a later upload is of a clock set back
   * @param misses how many such readings in a row make it offline
   */
  absent(began: number, ended: number, misses: number): boolean {
    const { online, lastUpload } = this;
    if (online === false) return false;
    if (lastUpload !== null && lastUpload >= began && lastUpload <= ended) return false;
    if (this.#misses++ === 0) this.#absentSince = began;
    // Nothing says that it has been online.
    if (online === null) return this.#setState(false, began);
    return this.#misses >= misses && this.#setState(false, this.#absentSince);
  }

  #setState(online: boolean, since: number): boolean {
    if (this.online === online) return false;
    this.since = since;
    this.online = online;
    return true;
  }
}
