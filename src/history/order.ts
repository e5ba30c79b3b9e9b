/**
 * Follows the order in which the records of a history come: no order is shown for the answers of endpoints 5 to 7
 * (section 4.2); the public server of 2016 gives the newest first.
 */
export class NewestFirst {
  #first: { time: number; id: bigint } | undefined;
  #time = NaN;
  #id = -1n;
  #mayDescend = true;

  /** @param time any number that grows with it; not finite without one */
  add(time: number, id: bigint): void {
    if (!this.#first) this.#first = { time, id };
    else {
      const isTimed = Number.isFinite(time) && Number.isFinite(this.#time);
      // Within a second, any order is possible; without times, ids show it.
      this.#mayDescend &&= isTimed ? time <= this.#time : id < this.#id;
    }
    this.#time = time;
    this.#id = id;
  }

  /** Whether the newest came first, as far as can be seen. */
  get isSeen(): boolean {
    const first = this.#first;
    if (!this.#mayDescend || !first) return false;
    return Number.isFinite(this.#time) ? this.#time < first.time : this.#id < first.id;
  }
}
