import assert from 'node:assert/strict';
import type { HistoryAnswer } from '../../../../src/recovery/answer';
import { Engine } from '../../../../src/recovery/engine';
import { HistoryFacts, type Learned } from '../../../../src/recovery/facts';
import { Budget, Budgets, LIMITS } from '../../../../src/recovery/limits';
import type { Position } from '../../../../src/recovery/position';
import type { Upload } from '../../../../src/types';
import { type Behaviour, BODIES, numbersOf, Service, type Stored, writtenAs } from './service';

/** Milliseconds of virtual time in a step, and how many steps a run has. */
const STEP = 200;
const STEPS = 150;
const BEGIN = 1_000_000;
const BASE = Date.UTC(2026, 0, 1);
const HOLD = 60_000;

/** What a run has shown, in numbers of uploads. */
export interface Outcome {
  uploads: number;
  lost: number;
  /** Emitted more than once, and not because a process was killed. */
  doubled: number;
  /** Emitted after a later one. Of unique bodies only. */
  disordered: number;
  /** Came live, whole, and were emitted only as the history has them, or not at all. */
  spoilt: number;
  /** Given back, not as they were sent, and without a mark. */
  unmarked: number;
}

interface Emission {
  number: number | undefined;
  replayed: boolean;
}

/** An upload on its way; or what is called when everything before it has arrived. */
type Frame = { upload: Stored; isReadable: boolean } | (() => void);

/** The reading of a history, from the request until its answer is emitted. */
interface ReadingUnderWay {
  answer: HistoryAnswer;
  made?: ReturnType<Service['answer']>;
}

/** A service, a channel, a process and a recovery, in virtual time. Everything follows from the seed. */
class Run {
  readonly #behaviour: Behaviour;
  readonly #random: () => number;
  readonly #service: Service;
  #facts: HistoryFacts;
  #budgets = new Budgets();
  #engine: Engine;
  #clock = BEGIN;
  #isUp = false;
  #frames: Frame[] = [];
  #unsent: Frame[] = [];
  #kept: { body: Buffer; at: number }[] | undefined;
  #due: number | undefined;
  #holdUntil = Infinity;
  #reading: ReadingUnderWay | undefined;
  #emitting: Generator<void> | undefined;
  #failing = 0;
  #emitted: Emission[] = [];
  /** Emitted after the position that was saved last, when the process was killed: these may come again. */
  readonly #repeated: Emission[] = [];
  #saved: { position: Position; learned: Learned; emitted: number; at: number } | undefined;
  readonly #arrived = new Set<number>();
  /** Arrived, or were shown by a history: these must be emitted. */
  readonly #known = new Set<number>();
  readonly #shown = new Set<number>();
  #unmarked = 0;
  #hasRestarted = false;

  constructor(behaviour: Behaviour, seed: number, facts: HistoryFacts) {
    this.#behaviour = behaviour;
    this.#random = numbersOf(seed);
    this.#service = new Service(behaviour, this.#random);
    this.#facts = facts;
    this.#engine = this.#start();
  }

  run(): Outcome {
    for (let earlier = 0; earlier < (this.#behaviour.earlier ?? 2); earlier++) {
      this.#clock += 1000;
      this.#accept(this.#body(), this.#clock);
    }
    this.#service.begin();
    const first = this.#service.uploads.length;
    this.#connect();
    for (let tries = 0; tries < 200 && !this.#engine.hasPosition; tries++) {
      this.#tick();
      if (this.#behaviour.isBusyAtFirst) this.#beBusy();
      else this.#answer(true);
    }
    this.#save();
    let killAt = Infinity;
    for (let step = 0; step < STEPS; step++) {
      this.#tick();
      if (step === killAt) {
        this.#kill();
        killAt = Infinity;
        continue;
      }
      this.#announce(0.85);
      this.#serve();
      const chance = this.#random();
      const { isSafe, bursts = 0, keepsUploads, failing = 0, restartsIds } = this.#behaviour;
      if (chance < 0.4) {
        const isBurst = bursts > 0 && this.#random() < bursts;
        this.#upload(isBurst ? 1 + Math.floor(this.#random() * 12) : 1);
      } else if (chance < 0.7) this.#deliver(1 + Math.floor(this.#random() * 3));
      else if (chance < 0.72) this.#drop();
      else if (chance < 0.73) {
        if (keepsUploads) this.#toggleDevice();
      } else if (chance < 0.735)
        this.#failing = failing && 1 + Math.floor(this.#random() * failing);
      else if (chance < 0.742) {
        if (!isSafe) killAt = step + Math.floor(this.#random() * 5) + 1;
      } else if (chance < 0.7435 && restartsIds && !this.#hasRestarted && step > 40) {
        this.#hasRestarted = true;
        this.#service.restartIds();
      } else if (chance < 0.85 && !this.#isUp) this.#connect();
    }
    this.#settle();
    this.#close();
    return this.#outcome(first);
  }

  /** Uploads before, while and after the first answer is made. */
  #beBusy(): void {
    if (this.#random() < 0.5) this.#upload(1 + Math.floor(this.#random() * 3));
    this.#announce(0.85);
    if (this.#random() < 0.5) this.#deliver(1);
    if (!this.#reading) return;
    if (!this.#reading.made) this.#reading.made = this.#service.answer(false);
    else this.#answer(false);
  }

  #start(): Engine {
    const { limits, room } = this.#behaviour;
    const budgets = (this.#budgets = new Budgets());
    return new Engine({
      ...{ appid: '1', chipid: '1', zone: 0, facts: this.#facts },
      start: this.#saved && structuredClone(this.#saved.position),
      budgets: room === undefined ? budgets : Object.assign(budgets, { answers: new Budget(room) }),
      limits: { ...LIMITS, ...limits },
      devices: () => 1,
      now: () => BASE + this.#clock,
      emit: (upload) => this.#emit(upload),
      log: () => undefined,
    });
  }

  #emit(upload: Upload): void {
    if (this.#behaviour.isExact) this.#save(true);
    if (!upload.replayed) {
      this.#emitted.push({ number: this.#numberOf(upload), replayed: false });
      return;
    }
    const original = this.#service.byId.get(Number(upload.id));
    this.#emitted.push({ number: original?.number, replayed: true });
    if (original && !upload.altered && !upload.body.equals(original.body)) this.#unmarked++;
  }

  /** Its number is in a property that the engine passes on. */
  #numberOf(upload: Upload): number {
    return (upload as Upload & { number: number }).number;
  }

  #body(): Buffer {
    const number = this.#service.uploads.length + (this.#kept?.length ?? 0);
    return Buffer.from(BODIES[this.#behaviour.bodies](this.#random, number));
  }

  #accept(body: Buffer, at: number): void {
    const upload = this.#service.store(body, at, this.#saved !== undefined);
    if (!this.#isUp) return;
    const { unreadable = 0, announcesLate } = this.#behaviour;
    const frame = { upload, isReadable: !(unreadable > 0 && this.#random() < unreadable) };
    (announcesLate ? this.#unsent : this.#frames).push(frame);
  }

  #upload(count: number): void {
    for (let made = 0; made < count; made++) {
      const body = this.#body();
      const at = this.#service.clock(this.#clock);
      if (this.#kept) this.#kept.push({ body, at });
      else this.#accept(body, at);
    }
  }

  #toggleDevice(): void {
    const kept = this.#kept;
    this.#kept = kept ? undefined : [];
    for (const { body, at } of kept ?? []) this.#accept(body, at);
  }

  #announce(chance: number): void {
    while (this.#unsent.length > 0 && this.#random() < chance)
      this.#frames.push(this.#unsent.shift() as Frame);
  }

  #deliver(count: number): void {
    for (const frame of this.#frames.splice(0, count)) {
      if (typeof frame === 'function') frame();
      else if (!frame.isReadable) this.#engine.gap();
      else {
        const { number, body } = frame.upload;
        this.#arrived.add(number);
        this.#known.add(number);
        const upload = { chipid: '1', appid: '1', timestamp: BASE + this.#clock, body };
        this.#engine.upload(Object.assign(upload, { number }));
      }
    }
    this.#plan();
  }

  #connect(): void {
    this.#isUp = true;
    this.#cancel();
    this.#engine.connected();
    this.#plan();
  }

  #drop(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#cancel();
    this.#engine.disconnected();
    this.#plan();
  }

  #cancel(): void {
    [this.#frames, this.#unsent] = [[], []];
    this.#reading = this.#emitting = this.#due = undefined;
    this.#holdUntil = Infinity;
  }

  /** Schedules what the engine needs, as its driver does. */
  #plan(): void {
    const { again, isHolding } = this.#engine;
    if (!isHolding || !this.#isUp) this.#holdUntil = Infinity;
    else if (this.#holdUntil === Infinity) this.#holdUntil = this.#clock + HOLD;
    if (this.#emitting || this.#reading || again === undefined) return;
    const pause = again === 0 ? 0 : Math.min(30_000, 1000 * 2 ** (again - 1));
    const at = this.#clock + pause * (0.5 + this.#random() / 2);
    this.#due = Math.min(this.#due ?? Infinity, at);
  }

  #tick(): void {
    this.#clock += STEP;
    if (this.#clock >= this.#holdUntil) {
      this.#holdUntil = Infinity;
      this.#engine.expired();
    }
    if (this.#emitting) this.#step(4);
    else if (this.#due !== undefined && this.#clock >= this.#due) {
      this.#due = undefined;
      this.#reading = { answer: this.#engine.request() };
    }
    this.#plan();
    if (this.#clock - (this.#saved?.at ?? -Infinity) >= 1000) this.#save();
  }

  #step(parts: number): void {
    for (let part = 0; part < parts && this.#emitting; part++)
      if (this.#emitting.next().done) this.#emitting = undefined;
    this.#plan();
  }

  /** The service answers a reading, or fails, some time after the request. */
  #serve(): void {
    const reading = this.#reading;
    if (!reading) return;
    const chance = this.#random();
    const { cut = 0, isSlow, isSafe } = this.#behaviour;
    if (this.#failing > 0 && chance < 0.6) {
      this.#failing--;
      this.#fail();
    } else if (!reading.made && chance < 0.5) reading.made = this.#service.answer(false);
    else if (reading.made && chance < 0.6) {
      if (cut > 0 && this.#random() < cut) this.#fail();
      else {
        this.#answer(false);
        if (isSlow && !isSafe && this.#random() < 0.15) this.#kill();
      }
    }
  }

  #fail(): void {
    this.#reading = undefined;
    this.#engine.failed();
    this.#plan();
  }

  /** @param isWhole whether the history shows everything */
  #answer(isWhole: boolean): void {
    const reading = this.#reading;
    if (!reading) return;
    const { numbers, records, size, length } = reading.made ?? this.#service.answer(isWhole);
    this.#reading = undefined;
    // What was sent before the answer arrives before it is looked at.
    this.#deliver(Infinity);
    for (const number of numbers) {
      this.#known.add(number);
      this.#shown.add(number);
    }
    for (const record of records) if (!reading.answer.take(record, size?.(record), length)) break;
    this.#emitting = this.#engine.answer(reading.answer);
    this.#step(this.#behaviour.isSlow ? 1 : Infinity);
  }

  /** @param isExact right before each upload, and never else, as a listener does that waits for acknowledgements */
  #save(isExact = false): void {
    if (isExact !== (this.#behaviour.isExact === true) && this.#saved) return;
    const position = this.#engine.position()?.();
    const { learned } = this.#facts;
    const emitted = this.#emitted.length;
    if (position) this.#saved = { position, learned, emitted, at: this.#clock };
  }

  #kill(): void {
    const saved = this.#saved?.emitted ?? 0;
    // What was not acknowledged must come again.
    if (this.#behaviour.isExact) this.#emitted.length = saved;
    else this.#repeated.push(...this.#emitted.slice(saved));
    // What was held back, and no history has shown, is nowhere.
    const out = new Set(this.#emitted.map(({ number }) => number));
    for (const number of this.#known)
      if (!this.#shown.has(number) && !out.has(number)) this.#known.delete(number);
    this.#close();
    this.#isUp = false;
    this.#cancel();
    if (!this.#behaviour.after) {
      this.#facts = new HistoryFacts();
      this.#facts.restore(this.#saved?.learned ?? {});
    }
    this.#engine = this.#start();
    if (this.#saved) this.#saved.emitted = this.#emitted.length;
  }

  /** Nothing stays on the budgets that all devices share. */
  #close(): void {
    this.#engine.close();
    const { held, answers } = this.#budgets;
    assert.deepEqual([held.used, answers.used], [0, 0]);
  }

  /** Delivers and answers everything until nothing is due. */
  #settle(): void {
    if (this.#kept) this.#toggleDevice();
    for (let round = 0, idle = 0; round < 400; round++) {
      if (!this.#isUp) this.#connect();
      this.#announce(1);
      this.#deliver(Infinity);
      this.#tick();
      if (this.#reading) this.#answer(true);
      else if (this.#emitting || this.#due !== undefined) this.#clock += 2000;
      else {
        if (++idle > 3) return;
        // Uploads that show what the history has.
        for (let proof = 0; proof < 2; proof++)
          this.#accept(Buffer.from(`proof${round}.${proof}`), this.#clock);
        this.#announce(1);
        this.#deliver(Infinity);
        this.#drop();
        this.#connect();
      }
    }
  }

  #outcome(first: number): Outcome {
    const { bodies, written, shown, restartsIds } = this.#behaviour;
    const due = this.#service.uploads.slice(first);
    const mustCome = ({ number, isStored }: Stored): boolean =>
      this.#known.has(number) || !(shown !== undefined || restartsIds || !isStored);
    // Of equal records, nothing shows which is which: they are counted.
    const keyOf = (number: number | undefined): string => {
      const upload = number === undefined ? undefined : this.#service.uploads[number];
      return upload ? writtenAs(upload.body, written) : '?';
    };
    const count = (numbers: Iterable<number | undefined>): Map<string, number> => {
      const counts = new Map<string, number>();
      for (const number of numbers) counts.set(keyOf(number), (counts.get(keyOf(number)) ?? 0) + 1);
      return counts;
    };
    const wanted = count(due.filter(mustCome).map(({ number }) => number));
    const given = count(this.#emitted.map(({ number }) => number));
    const repeated = count(this.#repeated.map(({ number }) => number));
    let [lost, doubled] = [0, 0];
    for (const key of new Set([...wanted.keys(), ...given.keys()])) {
      const more = (given.get(key) ?? 0) - (wanted.get(key) ?? 0);
      if (more < 0) lost -= more;
      else doubled += Math.max(0, more - (repeated.get(key) ?? 0));
    }
    const live = new Set(this.#emitted.flatMap((each) => (each.replayed ? [] : [each.number])));
    const spoilt = due.filter(
      ({ number }) => this.#arrived.has(number) && !live.has(number),
    ).length;
    return {
      ...{ uploads: due.length, lost, doubled, spoilt, unmarked: this.#unmarked },
      disordered: bodies.startsWith('unique') ? this.#disordered() : 0,
    };
  }

  /** What a kill repeats does not count. */
  #disordered(): number {
    let [disordered, latest] = [0, -1];
    const seen = new Set<number>();
    for (const { number } of this.#emitted) {
      if (number === undefined || seen.has(number)) continue;
      seen.add(number);
      if (number < latest) disordered++;
      latest = Math.max(latest, number);
    }
    return disordered;
  }
}

/** Runs the model once. */
export function runModel(behaviour: Behaviour, seed: number): Outcome {
  const facts = new HistoryFacts();
  const { after, ...rest } = behaviour;
  if (after) new Run({ ...behaviour, bodies: after }, seed + 1_000_000, facts).run();
  return new Run(after ? behaviour : rest, seed, facts).run();
}
