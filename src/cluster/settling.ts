import type { MemberBeat } from './store';

/** More than any lease, in ms: what the engine says may be anything. */
export const LONGEST_LEASE = 60_000;

/**
 * Watches how long a store has shown the same incarnation. After a restart, a loss or a failover it may have gone
 * back in time: all who still hold something put it back before anything is given away.
 */
export class Settling {
  private incarnation: string | undefined;
  private since = 0;
  /** The longest lease of those who may hold something: while settings are changed one by one they differ. */
  private longest = 0;

  /**
   * @param lease this member's, in ms
   * @param part of a lease, longer than the validity of anybody who last heard from the store before
   */
  constructor(
    private readonly lease: number,
    private readonly part: number,
  ) {}

  /** @param now monotonic, in ms */
  update(incarnation: string, members: readonly MemberBeat[], now: number): void {
    const known = members.map(({ lease = 0 }) => Math.min(lease, LONGEST_LEASE));
    const isNew = incarnation !== this.incarnation;
    // A store that was lost no longer knows those who have not put themselves back.
    const before = isNew || !this.isOver(now) ? this.longest : 0;
    this.longest = Math.max(this.lease, before, ...known);
    if (!isNew) return;
    this.incarnation = incarnation;
    this.since = now;
  }

  /** The incarnation, once it was seen for long enough. */
  settled(now: number): string | undefined {
    return this.isOver(now) ? this.incarnation : undefined;
  }

  /** When that will be, monotonic. */
  get due(): number {
    return this.incarnation === undefined ? Infinity : this.since + this.part * this.longest;
  }

  private isOver(now: number): boolean {
    return now >= this.due;
  }
}
