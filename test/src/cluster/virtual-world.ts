import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Engine } from '../../../src/cluster/engine';
import { BEAT, keysOf, SHARES, type Beat, type BeatAnswer } from '../../../src/cluster/scripts';
import { RULES, Shares } from '../../../src/cluster/shares';

export const LEASE = 5000;

/** Milliseconds that the real engine may take for a script. */
const LIMIT = 30_000;

interface Event {
  readonly at: number;
  readonly run: () => void | Promise<void>;
}

/** A process whose time is virtual. Its shares are the package's own. */
interface Process {
  readonly shares: Shares;
  /** When it goes on: it is stopped, as by SIGSTOP, or with the machine it runs on. */
  pausedUntil: number;
  /** Milliseconds for which its machine was suspended: its clock stood still. */
  suspended: number;
  /** Until when nothing of it gets through. */
  cutUntil: number;
  isGone: boolean;
}

/** Numbers from 0 to below 1 that a seed decides. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Processes, an engine and what is between them, in virtual time: hours pass in seconds. The engine's scripts are the real ones, run by
 * a real engine. It remembers the first moment at which two processes might act for one share.
 */
export class World {
  now = 1_000_000;
  /** The first two that might act for one share, in words. */
  overlap: string | undefined;
  faults = 0;
  /** How often it was set back to something. */
  setBacks = 0;
  readonly #engine: Engine;
  readonly #rules: typeof RULES;
  readonly #random: () => number;
  readonly #keys = keysOf('virtual');
  readonly #events: Event[] = [];
  #processes: Process[] = [];
  #born = 0;
  #hasFaults = true;
  #downUntil = 0;
  #hangsUntil = 0;
  #slowUntil = 0;
  /** Earlier contents of the engine, which it may be set back to. */
  readonly #copies: { at: number; content: Map<string, Record<string, string>> }[] = [];

  constructor(engine: Engine, seed: number, rules: Partial<typeof RULES> = {}) {
    this.#engine = engine;
    this.#rules = { ...RULES, ...rules };
    this.#random = numbers(seed);
  }

  /** Faults at random, at most a few at a time, until the end or the first overlap. */
  async run(ms: number): Promise<void> {
    await this.#call('FLUSHALL');
    const end = this.now + ms;
    for (let n = 0; n < 4; n++) this.#start();
    const next = (): void => {
      this.#at(this.now + this.#between(500, 30_000), async () => {
        if (this.#hasFaults) await this.#fault();
        next();
      });
    };
    next();
    const copy = (): void => {
      this.#at(this.now + 7000, async () => {
        this.#copies.push({ at: this.now, content: await this.#content() });
        if (this.#copies.length > 5) this.#copies.shift();
        copy();
      });
    };
    copy();
    await this.#pass(end);
    if (this.overlap === undefined) await this.#recovers();
  }

  /** Once nothing fails any more, each share has one owner that may act, and all have their part. */
  async #recovers(): Promise<void> {
    this.#hasFaults = false;
    await this.#pass(this.now + 60_000);
    const parts = this.#processes.map(({ shares }) =>
      shares.held.filter((share) => shares.mayAct(share)),
    );
    assert.equal(new Set(parts.flat()).size, SHARES);
    const [least, most] = [Math.floor(SHARES / parts.length), Math.ceil(SHARES / parts.length)];
    for (const { length } of parts) assert.ok(length === least || length === most, String(length));
  }

  async #pass(end: number): Promise<void> {
    while (this.now < end && this.overlap === undefined) {
      // A few hundred at most.
      let first: Event | undefined;
      for (const event of this.#events) if (!first || event.at < first.at) first = event;
      if (!first) return;
      this.#events.splice(this.#events.indexOf(first), 1);
      this.now = Math.max(this.now, first.at);
      await first.run();
      await turn();
      this.#look();
    }
  }

  #at(at: number, run: Event['run']): void {
    this.#events.push({ at, run });
  }

  /** Runs something in a process, later if it is paused by then. */
  #in(process: Process, at: number, run: () => void): void {
    this.#at(at, () => {
      if (process.isGone) return;
      if (this.now < process.pausedUntil) this.#in(process, process.pausedUntil, run);
      else run();
    });
  }

  #start(): Process {
    const now = (): number => this.now - process.suspended;
    const shares = new Shares({
      id: `m${this.#born++}`,
      lease: LEASE,
      ...{ wants: () => true, settings: '{}' },
      random: () => String(this.#random()),
      now,
      wallClock: () => this.now,
      rules: this.#rules,
      schedule: (ms, run) => {
        let isCancelled = false;
        this.#in(process, this.now + ms, () => {
          if (!isCancelled) run();
        });
        return () => (isCancelled = true);
      },
      beat: (beat, limit) => this.#beat(process, beat, limit),
      onGained: () => undefined,
      onLost: () => undefined,
      giveUp: () =>
        new Promise((resolve) =>
          this.#in(process, this.now + this.#between(1, 2000), () => resolve()),
        ),
      onAnew: () => undefined,
      onBeat: () => undefined,
    });
    const process: Process = { shares, pausedUntil: 0, suspended: 0, cutUntil: 0, isGone: false };
    this.#processes.push(process);
    this.#in(process, this.now, () => shares.beatNow());
    return process;
  }

  #delay(): number {
    const isSlow = this.now < this.#slowUntil ? this.#random() < 0.3 : this.#random() < 0.01;
    return isSlow ? this.#between(10, 12_000) : this.#between(0.2, 5);
  }

  #beat(process: Process, beat: Beat, limit: number): Promise<BeatAnswer> {
    return new Promise((resolve, reject) => {
      this.#in(process, this.now + limit, () => reject(new Error('no answer')));
      const arrive = (): void => {
        this.#at(Math.max(this.now + this.#delay(), this.#hangsUntil), async () => {
          if (this.now < this.#hangsUntil) return arrive();
          if (this.now < this.#downUntil || this.now < process.cutUntil) return;
          const { meta, members, shares, all } = this.#keys;
          const args = [JSON.stringify(beat), all];
          let answer: BeatAnswer | undefined;
          try {
            answer = JSON.parse(
              String(await this.#engine.run(LIMIT, BEAT, [meta, members, shares], args)),
            ) as BeatAnswer;
          } catch (error) {
            // It came late.
            if (!/LATE/.test((error as Error).message)) throw error;
          }
          if (this.now < process.cutUntil) return;
          this.#in(process, this.now + this.#delay(), () =>
            answer ? resolve({ ...answer }) : reject(new Error('late')),
          );
        });
      };
      arrive();
    });
  }

  async #fault(): Promise<void> {
    this.faults++;
    const alive = this.#processes.filter(({ isGone }) => !isGone);
    const one = alive[Math.floor(this.#random() * alive.length)];
    const kind = Math.floor(this.#random() * 12);
    if (kind === 0) await this.#wipe();
    else if (kind === 1) await this.#setBack();
    else if (kind === 2) this.#downUntil = this.now + this.#between(200, 20_000);
    else if (kind === 3) this.#hangsUntil = this.now + this.#between(200, 15_000);
    else if (kind === 4) this.#slowUntil = this.now + this.#between(5000, 30_000);
    else if (one && kind === 5) one.cutUntil = this.now + this.#between(500, 20_000);
    else if (one && kind === 6 && alive.length > 1) one.isGone = true;
    else if (one && kind >= 7 && kind <= 10) this.#pause(one);
    else if (one && alive.length > 3) void one.shares.leave().finally(() => (one.isGone = true));
    if (this.#processes.filter(({ isGone }) => !isGone).length < 3 || this.#random() < 0.05)
      if (alive.length < 6) this.#start();
    this.#processes = this.#processes.filter(({ isGone }) => !isGone);
  }

  /** Often the engine loses its data at about the time at which the process goes on. */
  #pause(process: Process): void {
    const isWiped = this.#random() < 0.7;
    const ms = this.#between(isWiped ? 6000 : 500, 20_000);
    process.pausedUntil = Math.max(process.pausedUntil, this.now + ms);
    if (this.#random() < 0.3) process.suspended += ms;
    if (isWiped)
      this.#at(process.pausedUntil - this.#between(0, 500), () =>
        this.#random() < 0.7 ? this.#wipe() : this.#setBack(),
      );
  }

  async #wipe(): Promise<void> {
    await this.#call('DEL', ...this.#names);
  }

  /** An old copy, of an engine with another run id: a replica, or one that was started again. */
  async #setBack(): Promise<void> {
    const { content } = this.#copies[Math.floor(this.#random() * this.#copies.length)] ?? {};
    await this.#wipe();
    for (const [key, fields] of content ?? [])
      await this.#call('HSET', key, ...Object.entries(fields).flat());
    if (content?.size) this.setBacks++;
    if (content) await this.#call('HSET', this.#keys.meta, 'run', 'another');
  }

  get #names(): string[] {
    return [this.#keys.meta, this.#keys.members, this.#keys.shares];
  }

  async #content(): Promise<Map<string, Record<string, string>>> {
    const content = new Map<string, Record<string, string>>();
    for (const key of this.#names) {
      const pairs = (await this.#call('HGETALL', key)) as string[];
      const fields: Record<string, string> = {};
      for (let at = 0; at < pairs.length; at += 2) fields[pairs[at] ?? ''] = pairs[at + 1] ?? '';
      if (pairs.length > 0) content.set(key, fields);
    }
    return content;
  }

  #call(name: string, ...args: string[]): Promise<unknown> {
    return this.#engine.call(LIMIT, name, ...args);
  }

  #between(least: number, most: number): number {
    return least + this.#random() * (most - least);
  }

  #look(): void {
    const owners = new Map<number, string>();
    for (const { shares, pausedUntil, isGone } of this.#processes) {
      if (isGone || this.now < pausedUntil) continue;
      for (const share of shares.held) {
        if (!shares.mayAct(share)) continue;
        const other = owners.get(share);
        if (other !== undefined)
          this.overlap ??= `${other} and ${shares.id} may act for share ${share} at ${this.now} ms`;
        owners.set(share, shares.id);
      }
    }
  }
}
