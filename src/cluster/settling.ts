/**
 * Watches how long a store has shown the same incarnation. After a restart, a loss or a failover it may have gone
 * back in time: all who still hold something put it back before anything is given away.
 */
export class Settling {
  private incarnation: string | undefined;
  private since = 0;

  /** @param ms longer than the validity of anybody who last heard from the store before */
  constructor(private readonly ms: number) {}

  /** @param now monotonic, in ms */
  update(incarnation: string, now: number): void {
    if (incarnation === this.incarnation) return;
    this.incarnation = incarnation;
    this.since = now;
  }

  /** The incarnation, once it was seen for long enough. */
  settled(now: number): string | undefined {
    return now - this.since >= this.ms ? this.incarnation : undefined;
  }

  /** When that will be, monotonic. */
  get due(): number {
    return this.incarnation === undefined ? Infinity : this.since + this.ms;
  }
}
