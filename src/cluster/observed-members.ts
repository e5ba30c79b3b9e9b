import { LONGEST_LEASE } from './settling';
import type { MemberBeat } from './store';

/**
 * When one member has last seen the beats of the others change, by its own monotonic clock. Another one counts as
 * dead once its beat has not changed for a lease, the longer one of both. Its last beat was sent before it was seen
 * here, so its own validity has ended by then, whatever the clocks of the machines and of the store show.
 */
export class ObservedMembers {
  private readonly seen = new Map<string, { beat: number; since: number; patience: number }>();
  private incarnation: string | undefined;
  private last = -Infinity;

  /** @param lease milliseconds */
  constructor(private readonly lease: number) {}

  /** Takes in the members of a reply. @param now monotonic, in ms */
  update(members: readonly MemberBeat[], incarnation: string, now: number): void {
    // While this one could not look, nobody could be seen: everybody is given a whole lease again, or the first to
    // come back after a fault of the store would take everything.
    const isGap = this.isGap(now) || incarnation !== this.incarnation;
    this.incarnation = incarnation;
    this.last = now;
    const ids = new Set(members.map(({ member }) => member));
    for (const id of this.seen.keys()) if (!ids.has(id)) this.seen.delete(id);
    for (const { member, beat, lease = 0 } of members) {
      // While settings are changed, one process after the other, they have different ones.
      const patience = Math.max(this.lease, Math.min(lease, LONGEST_LEASE));
      const before = this.seen.get(member);
      if (isGap || before?.beat !== beat) this.seen.set(member, { beat, since: now, patience });
    }
  }

  /** Those that have not beaten for a lease. @param now monotonic, in ms */
  dead(now: number): MemberBeat[] {
    if (this.isGap(now)) return [];
    return [...this.seen]
      .filter(([, { since, patience }]) => now - since >= patience)
      .map(([member, { beat }]) => ({ member, beat }));
  }

  /** Whether this member has not looked for longer than the others' beats are apart. */
  private isGap(now: number): boolean {
    return now - this.last > this.lease / 2;
  }

  /** When the next of the others would count as dead, monotonic. */
  nextDeath(self: string): number {
    const others = [...this.seen].filter(([member]) => member !== self);
    return Math.min(Infinity, ...others.map(([, { since, patience }]) => since + patience));
  }
}
