import type { MemberBeat } from './store';

/** The clocks and timers of this process. Tests and models have their own. */
export interface Clock {
  /** Milliseconds since 1970; may be set back or forward at any time. */
  now(): number;
  /** Milliseconds since an arbitrary moment; never set, but may stop while the machine sleeps. */
  monotonic(): number;
  /** Calls `callback` once after some milliseconds. @returns a function that cancels it */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** A moment by both clocks. */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export const momentOf = (clock: Clock): Moment => ({
  wall: clock.now(),
  monotonic: clock.monotonic(),
});

/** Whether a member may still act on the last answer of the store, by both of its clocks. */
export class Validity {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #changed: () => void;
  /** When the last beat that confirmed the membership was sent: the store received it no earlier. */
  #confirmed: Moment | undefined;
  #wasValid = false;
  #cancel: () => void = () => undefined;

  /**
   * @param ms how long an answer is valid
   * @param changed called when validity begins or ends
   */
  constructor(clock: Clock, ms: number, changed: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#changed = changed;
  }

  /** By both clocks: the monotonic one may stop while a virtual machine sleeps, and the other one may be set back. */
  get isValid(): boolean {
    const confirmed = this.#confirmed;
    return (
      confirmed !== undefined &&
      this.#clock.monotonic() - confirmed.monotonic < this.#ms &&
      this.#clock.now() - confirmed.wall < this.#ms
    );
  }

  confirm(sent: Moment): void {
    this.#confirmed = sent;
  }

  /** Calls back if validity has changed, and schedules the next check for the time when it ends. */
  check(): void {
    this.#cancel();
    const isValid = this.isValid;
    if (isValid && this.#confirmed) {
      const left = this.#confirmed.monotonic + this.#ms - this.#clock.monotonic();
      this.#cancel = this.#clock.after(Math.max(1, left), () => this.check());
    }
    if (isValid === this.#wasValid) return;
    this.#wasValid = isValid;
    this.#changed();
  }

  /** Ends validity without calling back. */
  end(): void {
    this.#cancel();
    this.#confirmed = undefined;
  }
}

/** The longest possible lease, in ms. The record of a member with a longer one is invalid. */
export const LONGEST_LEASE = 60_000;

/**
 * Watches how long a store has shown the same incarnation. After a restart, a loss or a failover it may have gone
 * back in time: every member restores what it holds before anything is assigned to others.
 */
export class Settling {
  readonly #lease: number;
  readonly #part: number;
  #incarnation: string | undefined;
  #since = 0;
  /** The longest lease of members that may hold something. Leases differ while settings are being changed. */
  #longest = 0;

  /**
   * @param lease this member's, in ms
   * @param part of a lease, longer than the validity of any member that was confirmed before the incarnation
   */
  constructor(lease: number, part: number) {
    this.#lease = lease;
    this.#part = part;
  }

  /** @param now monotonic, in ms */
  update(incarnation: string, members: readonly MemberBeat[], now: number): void {
    const isNew = incarnation !== this.#incarnation;
    // A store that lost its content does not know the members that have not sent a beat since.
    const before = isNew || now < this.due ? this.#longest : 0;
    this.#longest = Math.max(this.#lease, before, ...members.map(({ lease }) => lease));
    if (!isNew) return;
    this.#incarnation = incarnation;
    this.#since = now;
  }

  /** The incarnation, as soon as it has been seen for long enough. */
  settled(now: number): string | undefined {
    return now >= this.due ? this.#incarnation : undefined;
  }

  /** When that will be, monotonic. */
  get due(): number {
    return this.#incarnation === undefined ? Infinity : this.#since + this.#part * this.#longest;
  }
}

/**
 * When one member last saw the beats of the others change, by its own monotonic clock. A member whose beat has not
 * changed for a lease, the longer one of both, counts as dead. It had sent that beat before it was seen here, so its
 * validity has ended by then, whatever the clocks of the machines and of the store show.
 */
export class ObservedMembers {
  readonly #lease: number;
  readonly #seen = new Map<string, { beat: number; since: number; patience: number }>();
  #incarnation: string | undefined;
  #last = -Infinity;

  /** @param lease milliseconds */
  constructor(lease: number) {
    this.#lease = lease;
  }

  /** Compares the members of a reply with the members of the last reply. @param now monotonic, in ms */
  update(members: readonly MemberBeat[], incarnation: string, now: number): void {
    // After a time without replies, each member gets a whole lease again. Otherwise the first one to come back after a
    // fault of the store would cost them all their slots.
    const isGap = this.#isGap(now) || incarnation !== this.#incarnation;
    this.#incarnation = incarnation;
    this.#last = now;
    const ids = new Set(members.map(({ member }) => member));
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    for (const { member, beat, lease } of members) {
      // Leases differ while settings are changed in one process after the other.
      const patience = Math.max(this.#lease, lease);
      const before = this.#seen.get(member);
      if (isGap || before?.beat !== beat) this.#seen.set(member, { beat, since: now, patience });
    }
  }

  /** The members without a new beat for a lease. @param now monotonic, in ms */
  dead(now: number): Pick<MemberBeat, 'member' | 'beat'>[] {
    if (this.#isGap(now)) return [];
    return [...this.#seen]
      .filter(([, { since, patience }]) => now - since >= patience)
      .map(([member, { beat }]) => ({ member, beat }));
  }

  /** When the next of the others would count as dead, monotonic. */
  nextDeath(self: string): number {
    const others = [...this.#seen].filter(([member]) => member !== self);
    return Math.min(Infinity, ...others.map(([, { since, patience }]) => since + patience));
  }

  /** Whether this member has had no reply for longer than the time between two beats. */
  #isGap(now: number): boolean {
    return now - this.#last > this.#lease / 2;
  }
}
