const SECOND = 1000;

/** Takes a limited number of requests in each second, and counts all that arrive. */
export class Throttle {
  perSecond = Infinity;
  /** The most requests in any second, those that were refused included. */
  most = 0;
  refused = 0;
  #latest: number[] = [];
  #second = 0;
  #taken = 0;

  /** Counts anew. @param perSecond how many it takes from now on */
  restart(perSecond = this.perSecond): void {
    this.perSecond = perSecond;
    this.most = this.refused = 0;
    this.#latest = [];
  }

  /** Counts a request. @returns false if it is one too many */
  takes(): boolean {
    const now = performance.now();
    this.#latest.push(now);
    while ((this.#latest[0] ?? now) <= now - SECOND) this.#latest.shift();
    this.most = Math.max(this.most, this.#latest.length);
    const second = Math.floor(now / SECOND);
    if (second !== this.#second) this.#taken = 0;
    this.#second = second;
    if (++this.#taken <= this.perSecond) return true;
    this.refused++;
    return false;
  }
}
