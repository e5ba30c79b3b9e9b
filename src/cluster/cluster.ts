import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { shareOf, type SharedStore } from '../store/shared';
import { Store } from '../store/store';
import type { ClusterState } from '../util/guard';
import { isObject } from '../util/json';
import { isolated } from '../protocol/values';
import { Calls, GONE, NotSent, type Handler } from './calls';
import type { Result } from '../commands/saved-call';
import type { ClusterSettings } from '../protocol/engine-address';
import { Engine } from './engine';
import { EngineError } from './engine-error';
import { BEAT, keysOf, REFUSED, type Beat, type BeatAnswer, type Keys } from './scripts';
import { factsPort, SharePort, type PortDeps } from './share-port';
import { Shares } from './shares';

/** In leases: without an answered beat for so long, nothing is handed over. */
const OFFLINE = 0.4;

/** Milliseconds: a write without an answer for so long stops what emits; what is under way when a share is given up has so long. */
const STALLED = 250;
const FINISH = 2000;

/** Milliseconds that a command can be under way at most: a pulse, whose two commands are one. */
const LONGEST = 120_000;

/** @throws EngineError if it is no answer to a beat: only Redis and Valkey run the script */
export function readBeat(text: string): BeatAnswer {
  try {
    const answer = JSON.parse(text) as Partial<BeatAnswer> | null;
    const isWhole =
      isObject(answer?.members) && isObject(answer.shares) && Number.isFinite(answer.time);
    if (isWhole && isObject(JSON.parse(answer.settings ?? '{}'))) return answer as BeatAnswer;
  } catch {
    // Below.
  }
  throw new EngineError('it has answered what neither Redis nor Valkey does.', {
    isRefusal: true,
    isMistake: true,
  });
}

/** What happens with shares. Each begins as a process does that starts, and ends as one does that stops. */
export interface ClusterListener {
  /** The share is this process's, and what the store has of it is loaded. The store says so a turn later, for all that have come. */
  begin(share: number): void;
  /** It is another process's by now, or nobody's: nothing of it may be done any more. */
  end(share: number): void;
  /** It is to be given up: resolves when nothing is under way any more. `end` follows, after 2 s at the latest. */
  finish(share: number): Promise<void>;
  /** Whether this process has anything to do with shares of its own. */
  wants(): boolean;
  /** What must be the same in all processes. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly handle: Handler;
  /** As of {@link Calls}. */
  onOrphan(chipid: string, kept: unknown, result: Result): void;
}

/** One of the processes that share an application. */
export class Cluster {
  readonly calls: Calls;
  readonly #engine: Engine;
  readonly #keys: Keys;
  readonly #portDeps: PortDeps;
  readonly #listener: ClusterListener;
  readonly #store: SharedStore;
  readonly #facts: Store;
  readonly #shares: Shares;
  /** The shares of this process. Once their entries are loaded, the store has them: they have begun. */
  readonly #ports = new Map<number, SharePort>();
  #problem: string | undefined;
  /** Whether it lasts until somebody changes something. */
  #isMistake = false;
  #hasBegun = false;
  /** Whether the user had all rights when they were tried. A right that is missing would otherwise show when it is needed. */
  #hasRights = false;

  private constructor(
    id: string,
    keys: Keys,
    engine: Engine,
    lease: number,
    store: SharedStore,
    listener: ClusterListener,
  ) {
    this.#engine = engine;
    this.#keys = keys;
    this.#listener = listener;
    this.#store = store;
    this.#shares = new Shares({
      id,
      lease,
      now: () => performance.now(),
      wallClock: Date.now,
      random: randomUUID,
      schedule: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      wants: () => listener.wants(),
      settings: JSON.stringify(listener.settings),
      beat: (beat, limit) => this.#beat(beat, limit),
      onGained: (share, epoch) => void this.#begin(share, epoch),
      onLost: (share) => void this.#end(share),
      giveUp: (share) => this.#giveUp(share),
      onAnew: () => {
        for (const { entries } of this.#ports.values()) entries.rewrite();
        this.#facts.rewrite();
      },
      onBeat: (error) => this.#onBeat(error),
    });
    this.#portDeps = { engine, keys, shares: this.#shares };
    this.#facts = new Store(factsPort(this.#portDeps));
    store.attach(this.#facts);
    this.calls = new Calls({
      member: id,
      handle: listener.handle,
      members: () => this.members,
      obstacle: () => this.#obstacle,
      publish: async (member, text) =>
        Number(await engine.call(this.#shares.limit, 'PUBLISH', keys.to(member), text)),
      ownerOf: (chipid) => this.#shares.ownerOf(shareOf(chipid)),
      check: (chipid) => this.#check(chipid),
      time: () => this.#time,
      onOrphan: (...call) => listener.onOrphan(...call),
    });
    this.#shares.beatNow();
  }

  /**
   * Joins, in the background.
   * @param application what tells it from all others that use the engine
   * @param store is filled from now on
   * @throws DeviceCloudError `NOT_CONFIGURED`
   */
  static async open(
    settings: ClusterSettings,
    application: string,
    store: SharedStore,
    listener: ClusterListener,
  ): Promise<Cluster> {
    const id = randomUUID().slice(0, 8);
    const keys = keysOf(application);
    const engine = await Engine.open(settings, {
      [keys.all]: () => cluster.#shares.beatNow(),
      [keys.to(id)]: (text) => cluster.calls.receive(text),
    });
    const cluster = new Cluster(id, keys, engine, settings.lease, store, listener);
    return cluster;
  }

  get id(): string {
    return this.#shares.id;
  }

  get members(): string[] {
    return Object.keys(this.#shares.answer?.members ?? {});
  }

  get state(): ClusterState {
    if (this.#isMistake) return 'refused';
    if (!this.#shares.isValid)
      return this.#shares.answer || this.#problem !== undefined ? 'awaiting' : 'joining';
    return this.#hasBegun || this.#shares.answer?.settled === true ? 'joined' : 'joining';
  }

  /** Whether this process may act for a device now, or for the {@link WHOLE} application. */
  mayAct(chipid: string): boolean {
    const share = shareOf(chipid);
    return this.#store.shares.has(share) && this.#shares.mayAct(share);
  }

  /** Whether this process may emit what a device has sent: not while it is unknown whether the engine takes what it writes. */
  mayEmit(chipid: string): boolean {
    if (!this.mayAct(chipid)) return false;
    const latest = performance.now() - STALLED;
    for (const { stalledSince } of this.#ports.values()) if (stalledSince < latest) return false;
    return true;
  }

  /**
   * Sends a command once none can be under way any more that a process sent which had the device before and has died.
   * @param ms that the command may take
   * @throws NotSent if it was certainly not sent, since the share is another process's
   */
  async exclusively<T>(chipid: string, ms: number, send: () => Promise<T>): Promise<T> {
    const key = `busy:${chipid}`;
    // No command takes longer than the one that is known. A command of this process has ended: it was before this one in the queue.
    const left = Math.min(Number(this.#store.get(key)) - this.#time, LONGEST);
    if (left > 0) await sleep(left);
    this.#check(chipid);
    try {
      if (!(await this.#store.set(key, this.#time + ms)))
        throw new NotSent('The process that had the device could not note the command.');
      this.#check(chipid);
      return await send();
    } finally {
      this.#store.update(key, undefined);
    }
  }

  /** Gives all shares up, and leaves. */
  async close(): Promise<void> {
    await this.#facts.close();
    await this.#shares.leave();
    this.calls.close();
    this.#engine.close();
  }

  /** The engine's clock, in ms. */
  get #time(): number {
    return performance.now() + this.#shares.offset;
  }

  /** Why nothing can be handed over to another process; undefined if it can. */
  get #obstacle(): string | undefined {
    if (this.#shares.age <= OFFLINE * this.#shares.lease && this.#engine.isSubscribed)
      return undefined;
    return this.#problem ?? 'The engine of the cluster cannot be reached.';
  }

  #check(chipid: string): void {
    if (!this.mayAct(chipid)) throw new NotSent(GONE);
  }

  async #beat(beat: Beat, limit: number): Promise<BeatAnswer> {
    const { meta, members, shares, all } = this.#keys;
    const args = [JSON.stringify(beat), all];
    if (!this.#hasRights) {
      const missing = await this.#engine.missingRights(this.#keys, limit);
      if (missing.length > 0)
        throw new EngineError(`its user lacks rights: ${missing.join(' ')}.`, {
          isRefusal: true,
          isMistake: true,
        });
      this.#hasRights = true;
    }
    const answer = await this.#engine.run(limit, BEAT, [meta, members, shares], args);
    return readBeat(String(answer));
  }

  #onBeat(failure: unknown): void {
    this.calls.changed();
    // It may act again, perhaps after a moment that nothing else shows.
    if (failure === undefined && !this.#shares.wasValid) this.#store.moved();
    const mistakes = [...this.#ports.values()].map(({ mistake }) => mistake);
    const error = failure ?? mistakes.find((each) => each !== undefined);
    const isEngines = error instanceof EngineError;
    if (error === undefined) {
      this.#problem = this.#difference;
      this.#isMistake = this.#problem !== undefined;
      // The next beat names them.
    } else if (isEngines && error.lacksRights) this.#hasRights = false;
    // After a start, the first connection is not established yet.
    else if (
      !(isEngines && error.isUnsent && this.#engine.isFaultless) &&
      !(error as Error).message.includes(REFUSED.late)
    ) {
      this.#problem = `The engine of the cluster cannot be used: ${(error as Error).message}`;
      this.#isMistake = isEngines && error.isMistake;
    }
    this.#store.changed(this.state, this.#problem);
  }

  /** What this process has other settings in than the others, in a sentence. */
  get #difference(): string | undefined {
    const text = this.#shares.answer?.settings;
    if (text === undefined) return undefined;
    const [own, others] = [this.#listener.settings, JSON.parse(text) as Record<string, unknown>];
    const differences = Object.keys({ ...own, ...others })
      .map((name) => [name, JSON.stringify(own[name]), JSON.stringify(others[name])])
      .filter(([, here, there]) => here !== there)
      .map(([name, here, there]) => `${name} is ${here} here and ${there} there`);
    return (
      `Other processes of the cluster have the same application with other settings, so this one gets no devices: ` +
      `${differences.join(', ')}. All processes need the same flow.`
    );
  }

  async #begin(share: number, epoch: number): Promise<void> {
    const port = new SharePort(this.#portDeps, share, epoch);
    this.#ports.set(share, port);
    await port.entries.loaded;
    if (this.#ports.get(share) !== port) return;
    if (port.isRefused) {
      this.#ports.delete(share);
      this.#shares.giveBack(share);
      return;
    }
    this.#hasBegun = true;
    this.#store.begin(share, port.entries);
    isolated(() => this.#listener.begin(share));
  }

  /** Resolves once all is written, as far as that is possible. */
  async #end(share: number): Promise<void> {
    const port = this.#ports.get(share);
    this.#ports.delete(share);
    if (this.#store.end(share)) isolated(() => this.#listener.end(share));
    await port?.entries.close();
  }

  async #giveUp(share: number): Promise<void> {
    const port = this.#ports.get(share);
    if (this.#store.shares.has(share)) {
      const over = new AbortController();
      const limit = sleep(FINISH, undefined, over).catch(() => undefined);
      await Promise.race([this.#listener.finish(share), limit]).catch(() => undefined);
      over.abort();
    }
    // Until its last write the share is held, so that nothing is refused.
    if (this.#ports.get(share) === port) await this.#end(share);
  }
}
