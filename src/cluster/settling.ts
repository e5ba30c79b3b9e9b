import type { MemberBeat } from './store';

/** The longest possible lease, in ms. The record of a member with a longer one is invalid. */
export const LONGEST_LEASE = 60_000;

/**
 * Watches how long a store has shown the same incarnation. After a restart, a loss or a failover it may have gone
 * back in time: every member restores what it holds before anything is assigned to others.
 */
export class Settling {
  private incarnation: string | undefined;
  private since = 0;
  /** The longest lease of members that may hold something. Leases differ while settings are being changed. */
  private longest = 0;

  /**
   * @param lease this member's, in ms
   * @param part of a lease, longer than the validity of any member that was confirmed before the incarnation
   */
  constructor(
    private readonly lease: number,
    private readonly part: number,
  ) {}

  /** @param now monotonic, in ms */
  update(incarnation: string, members: readonly MemberBeat[], now: number): void {
    const known = members.map(({ lease = 0 }) => Math.min(lease, LONGEST_LEASE));
    const isNew = incarnation !== this.incarnation;
    // A store that lost its content does not know the members that have not sent a beat since.
    const before = isNew || !this.isOver(now) ? this.longest : 0;
    this.longest = Math.max(this.lease, before, ...known);
    if (!isNew) return;
    this.incarnation = incarnation;
    this.since = now;
  }

  /** The incarnation, as soon as it has been seen for long enough. */
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
