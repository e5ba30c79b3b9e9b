import { Coalescer } from '../store/store';
import type { Beat, BeatAnswer } from './scripts';

/**
 * In leases: how long a process may act after it has sent a beat that was answered; after which time without a new number a
 * member is dead; how long a generation must have been seen before anything moves; and how long a process that could not act
 * when the engine lost its data waits for a later owner to say so.
 */
export const RULES = { validity: 0.8, dead: 1, settled: 2, lapsed: 1 };

/** Beats in a lease, and the part of one after which a command of the engine is given up. */
const BEATS = 5;
const ANSWER = 0.3;

/** After so long without an answer, in leases, what is known of others is too old. */
const TOO_OLD = 0.5;

/**
 * A process, as its shares see it: its ids, clocks and timers, so that time can be virtual; and own code, which never throws, that is
 * called as shares come and go.
 */
export interface ShareHolder {
  /** New and random at each start. */
  readonly id: string;
  /** Milliseconds; of all members' leases the longest counts. */
  readonly lease: number;
  readonly rules?: typeof RULES;
  /** As JSON: what must be the same in all members. */
  readonly settings: string;
  /** Whether it has anything to do with shares of its own. */
  wants(): boolean;
  /** Runs the script. Rejects if there is no answer by the limit, in ms. */
  beat(beat: Beat, limit: number): Promise<BeatAnswer>;
  /** A clock that is never set, in ms. It may stand still while the machine is suspended. */
  now(): number;
  /** The machine's clock, in ms: it only shows that the machine was suspended. */
  wallClock(): number;
  random(): string;
  /** @returns cancels it */
  schedule(ms: number, run: () => void): () => void;
  onGained(share: number, epoch: number): void;
  /** At once: nothing of it may be done any more. */
  onLost(share: number): void;
  /** It moves to another process: resolves when all is written and nothing is under way. */
  giveUp(share: number): Promise<void>;
  /** The engine has lost what was kept: it is written anew. */
  onAnew(): void;
  /**
   * A beat is over: members, owners and whether this process may act may have changed.
   * @param error why there was no answer; undefined: there was one
   */
  onBeat(error: unknown): void;
}

interface Held {
  readonly epoch: number;
  /** While it is given up: resolves once all of it is written. */
  givenUp?: Promise<void>;
}

/** Which shares belong to this process, and until when it may act for them. */
export class Shares {
  readonly id: string;
  /** The latest answer; undefined before the first. */
  answer: BeatAnswer | undefined;
  /** The engine's clock minus that of this process, in ms. */
  offset = 0;
  /** Whether this process could act until the latest answer came. */
  wasValid = false;
  readonly #holder: ShareHolder;
  readonly #rules: typeof RULES;
  readonly #held = new Map<number, Held>();
  /** The numbers of the other members' beats, and when each was first seen. */
  readonly #seen = new Map<string, { number: number; since: number }>();
  #lease: number;
  #number = 0;
  #top = 0;
  #generation: string | undefined;
  #generationSince = 0;
  /** When the latest beat that was answered had been sent, by both clocks, and until when it allows to act. */
  #confirmedAt = -Infinity;
  #confirmedWall = 0;
  #validUntil = -Infinity;
  /** Beats that were sent before then allow nothing. */
  #voidBefore = -Infinity;
  readonly #beats = new Coalescer(() => this.#beat());
  #cancelTimer: (() => void) | undefined;
  #isLeaving = false;
  #isClosed = false;

  constructor(holder: ShareHolder) {
    this.#holder = holder;
    this.#rules = holder.rules ?? RULES;
    this.#lease = holder.lease;
    this.id = holder.id;
  }

  /** The longest lease that any member has had, in ms. */
  get lease(): number {
    return this.#lease;
  }

  /** Milliseconds that a command of the engine may take. */
  get limit(): number {
    return ANSWER * this.#lease;
  }

  /** The shares of this process, also those that it may not act for at the moment. */
  get held(): number[] {
    return [...this.#held.keys()];
  }

  /** Whether the latest beat that was answered is young enough to act for shares. */
  get isValid(): boolean {
    // A machine that was suspended shows by its wall clock alone. One that is set costs a beat.
    const age = Math.abs(this.#holder.wallClock() - this.#confirmedWall);
    return this.#holder.now() < this.#validUntil && age < this.#rules.validity * this.#lease;
  }

  /** Milliseconds since the latest beat that was answered was sent. */
  get age(): number {
    return this.#holder.now() - this.#confirmedAt;
  }

  /** Whether this process may act for a share now. */
  mayAct(share: number): boolean {
    const held = this.#held.get(share);
    return held !== undefined && !held.givenUp && this.isValid;
  }

  /** The member that a share belongs to as of the latest answer; undefined if it belongs to nobody. */
  ownerOf(share: number): string | undefined {
    if (this.#held.has(share)) return this.id;
    const owner = this.answer?.shares[share]?.[1];
    return owner !== undefined && owner !== this.id && this.answer?.members[owner]
      ? owner
      : undefined;
  }

  /** Beats at once, or once more after the beat that is under way. */
  beatNow(): void {
    if (!this.#isClosed) void this.#beats.run();
  }

  /** Gives a share back of which nothing can be loaded: it is better asked for again than begun empty. */
  giveBack(share: number): void {
    if (this.#held.delete(share)) this.beatNow();
  }

  /** Gives all shares up and leaves. */
  async leave(): Promise<void> {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    // It goes on to beat meanwhile: what is still to be written is refused otherwise.
    await Promise.all(this.held.map((share) => this.#giveUp(share)));
    this.#isClosed = true;
    await this.#beats.run();
    this.#validUntil = -Infinity;
  }

  /** Never rejects. */
  async #beat(): Promise<void> {
    this.#cancelTimer?.();
    const holder = this.#holder;
    const sent = holder.now();
    const sentWall = holder.wallClock();
    const leave = this.#isClosed;
    const asked = [...this.#held].map(([share, { epoch }]) => [share, epoch] as const);
    const request: Beat = {
      member: this.id,
      number: ++this.#number,
      lease: this.#lease,
      wants: holder.wants(),
      held: asked,
      top: this.#top,
      random: holder.random(),
      takes: !this.#isLeaving,
      leave,
      settings: holder.settings,
      dead: [...this.#seen]
        .filter(([, { since }]) => sent - since >= this.#rules.dead * this.#lease)
        .map(([member, { number }]) => [member, number] as const),
      settled:
        this.#generation !== undefined &&
        sent - this.#generationSince >= this.#rules.settled * this.#lease
          ? this.#generation
          : undefined,
    };
    let error: unknown;
    try {
      const answer = await holder.beat(request, this.limit);
      if (!leave) this.#answered(answer, sent, sentWall, new Map(asked));
    } catch (reason) {
      error = reason;
    }
    holder.onBeat(error);
    if (this.#isClosed) return;
    const pause = this.#lease / BEATS;
    const rest = error === undefined ? sent + pause - holder.now() : pause;
    this.#cancelTimer = holder.schedule(Math.max(rest, 0), () => this.beatNow());
  }

  #answered(
    answer: BeatAnswer,
    sent: number,
    sentWall: number,
    asked: ReadonlyMap<number, number>,
  ): void {
    const now = this.#holder.now();
    this.wasValid = this.isValid;
    this.answer = answer;
    this.offset = answer.time - now;
    for (const [, lease] of Object.values(answer.members))
      this.#lease = Math.max(this.#lease, lease);
    for (const [epoch] of Object.values(answer.shares)) this.#top = Math.max(this.#top, epoch);

    if (answer.generation !== this.#generation) {
      if (this.#generation !== undefined) {
        this.#holder.onAnew();
        // An owner with a later epoch says so within a lease, or may not act any more.
        if (!this.wasValid) this.#voidBefore = now + this.#rules.lapsed * this.#lease;
      }
      this.#generation = answer.generation;
      this.#generationSince = now;
    }
    // It may be the engine that was away, for all.
    if (sent - this.#confirmedAt > TOO_OLD * this.#lease) {
      this.#seen.clear();
      this.#generationSince = now;
    }
    this.#watch(answer, now);
    this.#confirmedAt = sent;
    this.#confirmedWall = sentWall;
    // The clock of a machine that was suspended says that it is still valid.
    if (!this.wasValid) this.#validUntil = -Infinity;
    if (sent >= this.#voidBefore) this.#validUntil = sent + this.#rules.validity * this.#lease;

    const own = new Map<number, number>();
    for (const [share, [epoch, member]] of Object.entries(answer.shares))
      if (member === this.id) own.set(Number(share), epoch);
    for (const [share, epoch] of asked) {
      // It may be its own again, of a later epoch: another process had it in between.
      if (own.get(share) === epoch) own.delete(share);
      else if (this.#held.delete(share)) this.#holder.onLost(share);
    }
    for (const [share, epoch] of own) {
      if (this.#isLeaving) continue;
      this.#held.set(share, { epoch });
      this.#holder.onGained(share, epoch);
    }
    if (answer.settled && !this.#isLeaving) this.#balance(answer.quota);
  }

  #watch(answer: BeatAnswer, now: number): void {
    for (const member of this.#seen.keys()) if (!answer.members[member]) this.#seen.delete(member);
    for (const [member, [number]] of Object.entries(answer.members)) {
      if (member === this.id || this.#seen.get(member)?.number === number) continue;
      this.#seen.set(member, { number, since: now });
    }
  }

  /** Gives up what is more than its part, the shares that it got last. */
  #balance(quota: number): void {
    const kept = [...this.#held].filter(([, { givenUp }]) => !givenUp);
    for (const [share] of kept.slice(quota)) void this.#giveUp(share);
  }

  #giveUp(share: number): Promise<void> {
    const held = this.#held.get(share);
    // A process that leaves may be about to give it up already.
    if (held)
      held.givenUp ??= Promise.resolve()
        .then(() => this.#holder.giveUp(share))
        .then(() => {
          if (this.#held.get(share) === held) this.giveBack(share);
        });
    return held?.givenUp ?? Promise.resolve();
  }
}
