import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Store } from '../store/store';
import { fnv1a } from '../util/fnv1a';
import { WHOLE, type ClusterState } from '../util/guard';
import { isolated } from '../util/thrown';
import { Calls, GONE, NotSent, type Handler } from './calls';
import type { Result } from '../commands/saved-call';
import type { ClusterSettings } from '../input/engine-address';
import { Engine, EngineError } from './engine';
import { BEAT, keysOf, REFUSED, SHARES, type Beat, type BeatAnswer, type Keys } from './scripts';
import { SharePort } from './share-port';
import { Shares } from './shares';

/** In leases: how long a command of the engine may take. */
const LIMIT = 0.3;

/** Milliseconds: a write without an answer for so long stops what emits; what is under way when a share is given up has so long. */
const STALLED = 250;
const FINISH = 2000;

/** Milliseconds that a command can be under way at most: a pulse, whose two commands are one. */
const LONGEST = 120_000;

/** Milliseconds until what could not be written anew is tried again. */
const AGAIN = 100;

/** What happens with shares. Each begins as a process does that starts, and ends as one does that stops. */
export interface ClusterListener {
  /** The share is this process's, and what the store has of it is loaded. */
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
  onOrphan(chipid: string, args: unknown, result: Result): void;
  /** {@link Cluster.state}, {@link Cluster.problem} or the members have changed. */
  onChange(): void;
}

interface Begun {
  readonly port: SharePort;
  readonly store: Store;
  isLoaded: boolean;
}

export const shareOf = (chipid: string): number => (chipid === WHOLE ? 0 : fnv1a(chipid) % SHARES);

/** The share of the device that an entry is about. */
export function shareOfKey(key: string): number {
  const [kind = '', first = '', ...rest] = key.split(':');
  if (kind === 'fact') return shareOf(WHOLE);
  const device = ['command', 'pin', 'busy'].includes(kind) ? first : rest.join(':');
  return shareOf(/^\d+$/.test(device) ? device : WHOLE);
}

/** One of the processes that share an application. */
export class Cluster {
  readonly calls: Calls;
  readonly #engine: Engine;
  readonly #keys: Keys;
  readonly #listener: ClusterListener;
  readonly #shares: Shares;
  readonly #begun = new Map<number, Begun>();
  /** The devices to which this process has a command under way. */
  readonly #busy = new Set<string>();
  #problem: string | undefined;
  /** Whether it lasts until somebody changes something. */
  #isMistake = false;
  #hasBegun = false;
  #isClosed = false;

  private constructor(
    engine: Engine,
    { lease }: ClusterSettings,
    application: string,
    listener: ClusterListener,
  ) {
    this.#engine = engine;
    this.#keys = keysOf(application);
    this.#listener = listener;
    const id = randomUUID().slice(0, 8);
    const now = (): number => performance.now();
    this.#shares = new Shares(
      {
        ...{ id, lease, now, wallClock: Date.now, random: randomUUID },
        ...{ wants: () => listener.wants(), settings: JSON.stringify(listener.settings) },
        beat: (beat, limit) => this.#beat(beat, limit),
        schedule: (ms, run) => {
          const timer = setTimeout(run, ms);
          return () => clearTimeout(timer);
        },
      },
      {
        onGained: (share, epoch) => void this.#begin(share, epoch),
        onLost: (share) => this.#end(share),
        giveUp: (share) => this.#giveUp(share),
        onAnew: (shares) => {
          for (const share of shares) void this.#writeAnew(share);
        },
        onChange: () => {
          this.calls.changed();
          listener.onChange();
        },
        onBeat: (error) => void this.#onBeat(error),
      },
    );
    this.calls = new Calls({
      ...{ member: id, handle: listener.handle, problem: () => this.#problem },
      canHear: () => engine.isSubscribed,
      publish: async (member, text) =>
        Number(await engine.call(this.#limit, 'PUBLISH', this.#keys.to(member), text)),
      ownerOf: (chipid) => this.#shares.ownerOf(shareOf(chipid)),
      mayAct: (chipid) => this.mayAct(chipid),
      members: () => this.members,
      age: () => this.#shares.age / this.#shares.lease,
      time: () => now() + this.#shares.offset,
      onOrphan: (...call) => listener.onOrphan(...call),
    });
    engine.subscribe(this.#keys.all, () => this.#shares.beatNow());
    engine.subscribe(this.#keys.to(id), (text) => this.calls.receive(text));
    this.#shares.beatNow();
  }

  /**
   * Joins, in the background.
   * @param application what tells it from all others that use the engine
   * @throws DeviceCloudError `NOT_CONFIGURED`
   */
  static async open(
    settings: ClusterSettings,
    application: string,
    listener: ClusterListener,
  ): Promise<Cluster> {
    return new Cluster(await Engine.open(settings), settings, application, listener);
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

  /** Why it cannot do its part, in a sentence; undefined if it can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The shares that this process has begun. */
  get owned(): number[] {
    return [...this.#begun].filter(([, { isLoaded }]) => isLoaded).map(([share]) => share);
  }

  /** Whether this process may act for a device now, or for the {@link WHOLE} application. */
  mayAct(chipid: string): boolean {
    const share = shareOf(chipid);
    return this.#begun.get(share)?.isLoaded === true && this.#shares.mayAct(share);
  }

  /** Whether this process may emit what a device has sent: not while it is unknown whether the engine takes what it writes. */
  mayEmit(chipid: string): boolean {
    if (!this.mayAct(chipid)) return false;
    const latest = performance.now() - STALLED;
    for (const { port } of this.#begun.values()) if (port.stalledSince < latest) return false;
    return true;
  }

  /** When the oldest change was made that is not written; Infinity if all is. */
  get oldestUnconfirmed(): number {
    let oldest = Infinity;
    for (const { store } of this.#begun.values())
      oldest = Math.min(oldest, store.oldestUnconfirmed);
    return oldest;
  }

  isWritten(key: string): boolean {
    return this.#storeIn(shareOfKey(key))?.isWritten(key) ?? false;
  }

  get(key: string): unknown {
    return this.#storeIn(shareOfKey(key))?.get(key);
  }

  /** Of all shares of this process. */
  list(prefix: string): [key: string, value: unknown][] {
    return this.owned.flatMap((share) => this.#storeIn(share)?.list(prefix) ?? []);
  }

  /** As of {@link Store}; false also if the share is not this process's. */
  set(key: string, value: unknown): Promise<boolean> {
    return this.#storeIn(shareOfKey(key))?.set(key, value) ?? Promise.resolve(false);
  }

  /** As of {@link Store}; nothing happens if the share is not this process's. */
  update(key: string, value: unknown): void {
    this.#storeIn(shareOfKey(key))?.update(key, value);
  }

  /**
   * Sends a command once none can be under way any more that a process sent which had the device before and has died.
   * @param ms that the command may take
   * @throws NotSent if it was certainly not sent, since the share is another process's
   */
  async exclusively<T>(chipid: string, ms: number, send: () => Promise<T>): Promise<T> {
    const check = (): void => {
      if (!this.mayAct(chipid)) throw new NotSent(GONE);
    };
    check();
    const key = `busy:${chipid}`;
    const time = (): number => performance.now() + this.#shares.offset;
    // No command takes longer than the one that is known.
    const left = Math.min(Number(this.get(key)) - time(), LONGEST);
    if (left > 0 && !this.#busy.has(chipid)) await sleep(left);
    check();
    this.#busy.add(chipid);
    try {
      if (!(await this.set(key, time() + ms)))
        throw new NotSent('The process that had the device could not note the command.');
      check();
      return await send();
    } finally {
      this.#busy.delete(chipid);
      this.update(key, undefined);
    }
  }

  /** Gives all shares up, and leaves. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#shares.leave();
    this.calls.close();
    this.#engine.close();
  }

  get #limit(): number {
    return LIMIT * this.#shares.lease;
  }

  #storeIn(share: number): Store | undefined {
    const begun = this.#begun.get(share);
    return begun?.isLoaded ? begun.store : undefined;
  }

  async #beat(beat: Beat, limit: number): Promise<BeatAnswer> {
    const { meta, members, shares, all } = this.#keys;
    const args = [JSON.stringify(beat), all];
    try {
      const answer = await this.#engine.run(limit, BEAT, [meta, members, shares], args);
      return JSON.parse(String(answer)) as BeatAnswer;
    } catch (error) {
      const { isUnsent = false, isRefusal = false } = error instanceof EngineError ? error : {};
      // A connection that is silent may have been cut, and the other one with it.
      if (!isUnsent && !isRefusal) this.#engine.replace();
      throw error;
    }
  }

  async #onBeat(error: unknown): Promise<void> {
    const before = this.#problem;
    // After a start, the first connection is not established yet.
    if (error instanceof EngineError && error.isUnsent && this.#engine.isFaultless) return;
    if (error === undefined) {
      this.#problem = this.#difference;
      this.#isMistake = this.#problem !== undefined;
    } else if (!(error as Error).message.includes(REFUSED.late)) {
      const rights =
        error instanceof EngineError && error.lacksRights
          ? await this.#engine.missingRights(this.#keys, this.#limit).catch(() => [])
          : [];
      const why =
        rights.length > 0
          ? `its user lacks rights: ${rights.join(' ')}.`
          : (error as Error).message;
      this.#problem = `The engine of the cluster cannot be used: ${why}`;
      this.#isMistake = error instanceof EngineError && error.isMistake;
    }
    if (this.#problem !== before) isolated(() => this.#listener.onChange());
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
    const port = new SharePort({
      ...{ engine: this.#engine, keys: this.#keys, hold: { share, epoch, member: this.id } },
      limit: () => this.#limit,
      replicas: () => this.#shares.answer?.replicas ?? 0,
      now: () => performance.now(),
      onRefused: () => this.#shares.beatNow(),
    });
    const begun: Begun = { port, store: new Store(port), isLoaded: false };
    this.#begun.set(share, begun);
    await begun.store.loaded;
    if (this.#begun.get(share) !== begun) return;
    if (port.isRefused) {
      this.#begun.delete(share);
      this.#shares.giveBack(share);
      return;
    }
    begun.isLoaded = true;
    this.#hasBegun = true;
    isolated(() => this.#listener.begin(share));
  }

  #end(share: number): void {
    const begun = this.#begun.get(share);
    this.#begun.delete(share);
    if (begun?.isLoaded) isolated(() => this.#listener.end(share));
    void begun?.store.close();
  }

  async #giveUp(share: number): Promise<void> {
    const begun = this.#begun.get(share);
    if (!begun?.isLoaded) {
      this.#end(share);
      return;
    }
    const over = new AbortController();
    const limit = sleep(FINISH, undefined, over).catch(() => undefined);
    await Promise.race([this.#listener.finish(share), limit]).catch(() => undefined);
    over.abort();
    if (this.#begun.get(share) !== begun) return;
    this.#begun.delete(share);
    isolated(() => this.#listener.end(share));
    // Until then the share is held, so that nothing is refused.
    await begun.store.close();
    await begun.port.idle();
  }

  /** The engine has lost what this share had. */
  async #writeAnew(share: number): Promise<void> {
    const begun = this.#begun.get(share);
    while (begun && this.#begun.get(share) === begun && !this.#isClosed) {
      try {
        await begun.store.loaded;
        await begun.port.writeAnew();
        return;
      } catch {
        await sleep(AGAIN);
      }
    }
  }
}
