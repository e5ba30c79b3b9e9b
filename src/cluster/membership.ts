import { momentOf, ObservedMembers, Settling, Validity, type Clock, type Moment } from './clock';
import { HeldSlots } from './slots';
import type { BeatReply, BeatRequest, Share, Holding, Store } from './store';

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

/** The dependencies of a member, and the callbacks for its changes, which do not throw. */
export interface MembershipOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Unique, and new at each start. */
  readonly member: string;
  /** Milliseconds. */
  readonly lease: number;
  /** What it claims a share of at present. */
  readonly claims: () => readonly Share[];
  /** Makes a new name for an empty store. */
  readonly generation: () => string;
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
  readonly failed?: (error: unknown) => void;
  /** Called with the answer to a beat. */
  readonly replied: (reply: BeatReply) => void;
}

/** One process's membership: its beats, its slots, and whether it may still act on them. */
export class Membership {
  readonly slots = new HeldSlots();
  readonly #options: MembershipOptions;
  readonly #observed: ObservedMembers;
  readonly #settling: Settling;
  readonly #validity: Validity;
  #beats = 0;
  #failures = 0;
  #isBeating = false;
  #isUrgent = false;
  #isClosed = false;
  #cancelBeat: () => void = () => undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#observed = new ObservedMembers(options.lease);
    this.#settling = new Settling(options.lease, SETTLE);
    this.#validity = new Validity(options.clock, VALID * options.lease, options.validity);
  }

  /** Starts to send beats. */
  start(): void {
    this.#schedule(0);
  }

  /** Whether this member may act now, by both of its clocks. */
  get isValid(): boolean {
    return this.#validity.isValid;
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
    this.#validity.end();
  }

  /** Frees its slots in the store, if it can be reached; otherwise they are free after a lease. */
  async leave(): Promise<void> {
    await this.#options.store.leave(this.#options.member).catch(() => undefined);
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
    const sent = momentOf(clock);
    try {
      const reply = await store.beat(this.#request(sent.monotonic));
      this.#failures = 0;
      if (reply && !this.#isClosed) await this.#accept(reply, sent);
    } catch (error) {
      if (++this.#failures >= REPORT_AFTER && !this.isValid && !this.#isClosed) failed?.(error);
    }
    this.#isBeating = false;
    this.#schedule(this.#pause(sent.monotonic));
  }

  #request(now: number): BeatRequest {
    const { member, lease, claims, generation } = this.#options;
    return {
      ...{ member, lease, claims: claims(), beat: ++this.#beats, generation: generation() },
      holdings: this.slots.holdings,
      release: this.slots.released,
      dead: this.#observed.dead(now),
      settled: this.#settling.settled(now),
    };
  }

  /** Milliseconds to the next beat: fewer if a member counts as dead, or the store as settled, before that. */
  #pause(sent: number): number {
    const { clock, lease, member } = this.#options;
    if (this.#isUrgent) return SHORTEST;
    const now = clock.monotonic();
    const usual = sent + BEAT * lease * (this.#failures > 0 ? 1 / 2 : 1);
    const dues = [this.#observed.nextDeath(member), this.#settling.due].filter((due) => due > now);
    return Math.max(SHORTEST, Math.min(usual, ...dues) - now);
  }

  async #accept(reply: BeatReply, sent: Moment): Promise<void> {
    const { clock, gained, replied, restore } = this.#options;
    const now = clock.monotonic();
    this.#observed.update(reply.members, reply.incarnation, now);
    this.#settling.update(reply.incarnation, reply.members, now);
    // A store that may have gone back in time could name an absent member as the owner that it used to be.
    const isConfirmed = reply.isSettled || this.isValid;
    const changes = this.slots.update(reply, isConfirmed);
    if (isConfirmed) this.#validity.confirm(sent);
    this.#lost(changes.lost);
    for (const slot of changes.gained) gained(slot);
    this.#validity.check();
    replied(reply);
    if (changes.behind.length > 0) {
      await Promise.all(changes.behind.map((holding) => restore(holding).catch(() => undefined)));
      // The next beat shows which of them this member holds again.
      this.#isUrgent = true;
    }
    this.#giveUp(reply);
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
    const slots = [
      ...this.slots.above('devices', surplus.devices),
      ...this.slots.above('queue', surplus.queue),
    ];
    if (slots.length === 0) return;
    const holdings = this.slots.giveUp(slots);
    for (const slot of slots) lost(slot);
    // Listeners are called in a microtask, and then save what they have emitted in this turn.
    void Promise.resolve()
      .then(flush)
      .then(() => {
        this.slots.release(holdings);
        for (const slot of slots) ended(slot);
        this.beatSoon();
      });
  }
}
