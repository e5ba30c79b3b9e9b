import { LONGEST_LEASE } from './settling';
import type { MemberBeat } from './store';

/**
 * When one member last saw the beats of the others change, by its own monotonic clock. A member whose beat has not
 * changed for a lease, the longer one of both, counts as dead. It had sent that beat before it was seen here, so its
 * validity has ended by then, whatever the clocks of the machines and of the store show.
 */
export class ObservedMembers {
  private readonly seen = new Map<string, { beat: number; since: number; patience: number }>();
  private incarnation: string | undefined;
  private last = -Infinity;

  /** @param lease milliseconds */
  constructor(private readonly lease: number) {}

  /** Compares the members of a reply with those of the last one. @param now monotonic, in ms */
  update(members: readonly MemberBeat[], incarnation: string, now: number): void {
    // After a time without replies, each member gets a whole lease again. Otherwise the first one to come back after a
    // fault of the store would cost them all their slots.
    const isGap = this.isGap(now) || incarnation !== this.incarnation;
    this.incarnation = incarnation;
    this.last = now;
    const ids = new Set(members.map(({ member }) => member));
    for (const id of this.seen.keys()) if (!ids.has(id)) this.seen.delete(id);
    for (const { member, beat, lease = 0 } of members) {
      // Leases differ while settings are changed in one process after the other.
      const patience = Math.max(this.lease, Math.min(lease, LONGEST_LEASE));
      const before = this.seen.get(member);
      if (isGap || before?.beat !== beat) this.seen.set(member, { beat, since: now, patience });
    }
  }

  /** The members without a new beat for a lease. @param now monotonic, in ms */
  dead(now: number): MemberBeat[] {
    if (this.isGap(now)) return [];
    return [...this.seen]
      .filter(([, { since, patience }]) => now - since >= patience)
      .map(([member, { beat }]) => ({ member, beat }));
  }

  /** Whether this member has had no reply for longer than the time between two beats. */
  private isGap(now: number): boolean {
    return now - this.last > this.lease / 2;
  }

  /** When the next of the others would count as dead, monotonic. */
  nextDeath(self: string): number {
    const others = [...this.seen].filter(([member]) => member !== self);
    return Math.min(Infinity, ...others.map(([, { since, patience }]) => since + patience));
  }
}
