import { randomUUID } from 'node:crypto';
import { HeldSlots } from './slots';
import type { BeatReply, BeatRequest, Clock, Holding, MemberBeat, Share, Store } from './store';

/** The time between two beats, as a part of the lease. */
const BEAT = 1 / 5;
/** Shorter than a lease, since clocks differ in speed and an action takes place some time after its check. */
const VALID = 3 / 4;
/** Longer than {@link VALID}: no member that was confirmed before a restart of the store is valid by then. */
const SETTLE = 4 / 5;

/** How many beats in a row fail before the reason is reported: connecting takes a moment, and a beat may get lost. */
const REPORT_AFTER = 5;

/** The shortest pause between two beats, in ms, if something is urgent. */
const SHORTEST = 10;

/** The clock of Node.js. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** When something happened, by both clocks. */
interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * What one member has seen of the store and of the others, by its own monotonic clock. A member whose beat has not changed
 * for a lease, the longer one of both, counts as dead: it had sent that beat before it was seen here, so its validity has
 * ended by then, whatever the clocks of the machines and of the store show. And a store counts as settled once it has shown
 * the same incarnation for long enough: after a restart, a loss or a failover it may have gone back in time, and every
 * member restores what it holds before anything is assigned to others.
 */
class Observed {
  readonly #lease: number;
  readonly #members = new Map<string, { beat: number; since: number; patience: number }>();
  #incarnation: string | undefined;
  /** Since when it has been the same. */
  #since = 0;
  /** The longest lease of members that may hold something. Leases differ while settings are being changed. */
  #longest = 0;
  #last = -Infinity;

  /** @param lease milliseconds */
  constructor(lease: number) {
    this.#lease = lease;
  }

  update({ incarnation, members }: BeatReply, now: number): void {
    const isNew = incarnation !== this.#incarnation;
    // After a time without replies, each member gets a whole lease again. Otherwise the first one to come back after a
    // fault of the store would cost them all their slots.
    const isGap = isNew || this.#isGap(now);
    // A store that lost its content does not know the members that have not sent a beat since.
    const before = isNew || now < this.settlesAt ? this.#longest : 0;
    this.#longest = Math.max(this.#lease, before, ...members.map(({ lease }) => lease));
    if (isNew) this.#since = now;
    this.#incarnation = incarnation;
    this.#last = now;
    const ids = new Set(members.map(({ member }) => member));
    for (const id of this.#members.keys()) if (!ids.has(id)) this.#members.delete(id);
    for (const { member, beat, lease } of members) {
      const patience = Math.max(this.#lease, lease);
      if (isGap || this.#members.get(member)?.beat !== beat)
        this.#members.set(member, { beat, since: now, patience });
    }
  }

  /** The incarnation, as soon as it has been seen for long enough. */
  settled(now: number): string | undefined {
    return now >= this.settlesAt ? this.#incarnation : undefined;
  }

  /** When that will be. */
  get settlesAt(): number {
    return this.#incarnation === undefined ? Infinity : this.#since + SETTLE * this.#longest;
  }

  /** The members without a new beat for a lease. */
  dead(now: number): Pick<MemberBeat, 'member' | 'beat'>[] {
    if (this.#isGap(now)) return [];
    return [...this.#members]
      .filter(([, { since, patience }]) => now - since >= patience)
      .map(([member, { beat }]) => ({ member, beat }));
  }

  /** When the next of the others would count as dead. */
  nextDeath(self: string): number {
    const others = [...this.#members].filter(([member]) => member !== self);
    return Math.min(Infinity, ...others.map(([, { since, patience }]) => since + patience));
  }

  /** Whether this member has had no reply for longer than the time between two beats. */
  #isGap(now: number): boolean {
    return now - this.#last > this.#lease / 2;
  }
}

/** The dependencies of a member, and the callbacks for its changes, which do not throw. */
interface MembershipOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Unique, and new at each start. */
  readonly member: string;
  /** Milliseconds. */
  readonly lease: number;
  /** What it claims a share of at present. */
  readonly claims: () => readonly Share[];
  /** Called before a beat that follows failed ones, and before slots are released: writes everything that is unwritten. */
  readonly flush: () => Promise<void>;
  /** Restores a slot in a store that went back in time. */
  readonly restore: (holding: Holding) => Promise<unknown>;
  readonly gained: (slot: number) => void;
  /** Called when this member may no longer act for a slot: another holds it, or it is about to be released. */
  readonly lost: (slot: number) => void;
  /** Called when a slot can be forgotten: another holds it, or everything of it is written. */
  readonly ended: (slot: number) => void;
  /** Called when it changes whether anything may be emitted. */
  readonly validity: () => void;
  /** Called when beats have failed for a while, and nothing may be emitted. */
  readonly failed: (error: unknown) => void;
  /** Called with the answer to a beat. */
  readonly replied: (reply: BeatReply) => void;
}

/** One process's membership: its beats, its slots, and whether it may still act on them. */
export class Membership {
  readonly slots = new HeldSlots();
  readonly #options: MembershipOptions;
  readonly #observed: Observed;
  /** When the last beat that confirmed the membership was sent: the store received it no earlier. */
  #confirmed: Moment | undefined;
  #wasValid = false;
  #beats = 0;
  #failures = 0;
  #isBeating = false;
  #isUrgent = false;
  #isClosed = false;
  #cancelBeat: () => void = () => undefined;
  #cancelCheck: () => void = () => undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#observed = new Observed(options.lease);
    this.#schedule(0);
  }

  /**
   * Whether this member may act now. By both of its clocks: the monotonic one may stop while a virtual machine sleeps, and
   * the other one may be set back.
   */
  get isValid(): boolean {
    const { clock, lease } = this.#options;
    const { wall, monotonic } = this.#confirmed ?? { wall: -Infinity, monotonic: -Infinity };
    return clock.monotonic() - monotonic < VALID * lease && clock.now() - wall < VALID * lease;
  }

  /** Whether it may act for the devices of a slot now. */
  mayAct(slot: number): boolean {
    return this.slots.isUsable(slot) && this.isValid;
  }

  /** Sends a beat as soon as possible, since something has changed. */
  beatSoon(): void {
    this.#isUrgent = true;
    if (!this.#isBeating) this.#schedule(SHORTEST);
  }

  /** Gives up a slot that another member holds, as a write has shown. */
  fenced(slot: number): void {
    if (this.slots.drop(slot)) this.#lost([slot]);
  }

  /** Stops acting. */
  stop(): void {
    this.#isClosed = true;
    this.#cancelBeat();
    this.#cancelCheck();
    this.#confirmed = undefined;
  }

  #schedule(ms: number): void {
    this.#cancelBeat();
    if (this.#isClosed) return;
    this.#cancelBeat = this.#options.clock.after(ms, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    const { clock, store, flush, failed } = this.#options;
    this.#isBeating = true;
    // Positions first: after this beat another member may hold a slot, and would emit its last uploads again.
    if (this.#failures > 0) await flush();
    this.#isUrgent = false;
    const sent = { wall: clock.now(), monotonic: clock.monotonic() };
    try {
      const reply = await store.beat(this.#request(sent.monotonic));
      this.#failures = 0;
      if (reply && !this.#isClosed) await this.#accept(reply, sent);
    } catch (error) {
      if (++this.#failures >= REPORT_AFTER && !this.isValid && !this.#isClosed) failed(error);
    }
    this.#isBeating = false;
    this.#schedule(this.#pause(sent.monotonic));
  }

  #request(now: number): BeatRequest {
    const { member, lease, claims } = this.#options;
    return {
      ...{ member, lease, claims: claims(), beat: ++this.#beats, generation: randomUUID() },
      holdings: this.slots.holdings,
      release: this.slots.released,
      dead: this.#observed.dead(now),
      settled: this.#observed.settled(now),
    };
  }

  /** Milliseconds to the next beat: fewer if a member counts as dead, or the store as settled, before that. */
  #pause(sent: number): number {
    const { clock, lease, member } = this.#options;
    if (this.#isUrgent) return SHORTEST;
    const now = clock.monotonic();
    const usual = sent + BEAT * lease * (this.#failures > 0 ? 1 / 2 : 1);
    const { settlesAt } = this.#observed;
    const dues = [this.#observed.nextDeath(member), settlesAt].filter((due) => due > now);
    return Math.max(SHORTEST, Math.min(usual, ...dues) - now);
  }

  async #accept(reply: BeatReply, sent: Moment): Promise<void> {
    const { clock, gained, replied, restore } = this.#options;
    this.#observed.update(reply, clock.monotonic());
    // A store that may have gone back in time could name an absent member as the owner that it used to be.
    const isConfirmed = reply.isSettled || this.isValid;
    const changes = this.slots.update(reply, isConfirmed);
    if (isConfirmed) this.#confirmed = sent;
    this.#lost(changes.lost);
    for (const slot of changes.gained) gained(slot);
    this.#checkValidity();
    replied(reply);
    if (changes.behind.length > 0) {
      await Promise.all(changes.behind.map((holding) => restore(holding).catch(() => undefined)));
      // The next beat shows which of them this member holds again.
      this.#isUrgent = true;
    }
    this.#giveUp(reply);
  }

  /** Calls back if validity has changed, and schedules the next check for the time when it ends. */
  #checkValidity(): void {
    const { clock, lease, validity } = this.#options;
    this.#cancelCheck();
    const { isValid } = this;
    if (isValid && this.#confirmed) {
      const left = this.#confirmed.monotonic + VALID * lease - clock.monotonic();
      this.#cancelCheck = clock.after(Math.max(1, left), () => this.#checkValidity());
    }
    if (isValid === this.#wasValid) return;
    this.#wasValid = isValid;
    validity();
  }

  #lost(slots: readonly number[]): void {
    const { lost, ended } = this.#options;
    for (const slot of slots) {
      lost(slot);
      ended(slot);
    }
  }

  /** Releases the surplus: stops emitting, then writes everything, then frees the slots. */
  #giveUp({ surplus }: BeatReply): void {
    const { lost, ended, flush } = this.#options;
    const given = this.slots.giveUp(surplus);
    if (given.length === 0) return;
    for (const { slot } of given) lost(slot);
    // Listeners are called in a microtask, and then save what they have emitted in this turn.
    void Promise.resolve()
      .then(flush)
      .then(() => {
        this.slots.release(given);
        for (const { slot } of given) ended(slot);
        this.beatSoon();
      });
  }
}
