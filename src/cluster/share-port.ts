import { kindOf, Store, type Entries, type StorePort } from '../store/store';
import type { Engine } from './engine';
import { EngineError } from './engine-error';
import { LOAD, WRITE, type Keys } from './scripts';
import type { Shares } from './shares';

/** What must not act twice or be forgotten, also if the engine fails over at once. */
const DURABLE = new Set(['command', 'pin', 'busy']);

/** Milliseconds that a replica has for it: what comes after, beats included, waits meanwhile. */
const REPLICATED = 100;

/** What keeps entries in an engine needs. */
export interface PortDeps {
  readonly engine: Pick<Engine, 'run' | 'call'>;
  readonly keys: Keys;
  readonly shares: Pick<Shares, 'id' | 'limit' | 'answer' | 'beatNow'>;
}

/**
 * Keeps the entries of one share in a hash of the engine, as long as the share is this process's. One write is under way at a time; each
 * has a number, so that one that is repeated, or comes late over an old connection, changes nothing.
 */
export class SharePort implements StorePort {
  readonly entries = new Store(this);
  /** When the oldest write began that is not answered yet, or has failed; Infinity if there is none. */
  stalledSince = Infinity;
  /** Whether the engine has said that the share is not this process's. */
  isRefused = false;
  /** Why the latest command failed, if it lasts until somebody changes something. */
  mistake: EngineError | undefined;
  #sequence = 0;

  /** @param epoch the number of this claim of the share: another one, before or after, has another */
  constructor(
    readonly deps: PortDeps,
    readonly share: number,
    readonly epoch: number,
  ) {}

  /** All is written together. */
  unitOf(): string {
    return '';
  }

  async load(): Promise<[key: string, value: unknown][] | undefined> {
    const answer = await this.#run(LOAD, []);
    if (Array.isArray(answer)) return entriesOf(answer);
    this.#refused();
    return undefined;
  }

  async write(
    unit: string,
    changes: Entries,
    all: () => Entries,
    isAnew: boolean,
  ): Promise<boolean> {
    this.stalledSince = Math.min(this.stalledSince, performance.now());
    const written = isAnew ? all() : changes;
    const texts = [...written].flatMap(([key, value]) => [key, textOf(value)]);
    const answer = await this.#run(WRITE, [++this.#sequence, isAnew ? 1 : 0, ...texts]);
    if (answer === 2) return this.write(unit, changes, all, true);
    if (answer !== 1) {
      this.#refused();
      // The engine may have lost whose the share is. Only a beat says that it is another process's: then nothing is tried again.
      throw new Error('The engine says that the share is another process’s.');
    }
    this.stalledSince = Infinity;
    const { engine, shares } = this.deps;
    // Otherwise a failover within the same second could forget it.
    if (shares.answer?.replicas && [...written.keys()].some((key) => DURABLE.has(kindOf(key))))
      await engine.call(shares.limit, 'WAIT', 1, REPLICATED).catch(() => undefined);
    return true;
  }

  async #run(script: typeof WRITE, args: readonly (string | number)[]): Promise<unknown> {
    const { engine, keys, shares } = this.deps;
    const hold = [this.share, this.epoch, shares.id];
    const names = [keys.shares, keys.share(this.share)];
    try {
      const answer = await engine.run(shares.limit, script, names, [...hold, ...args]);
      this.mistake = undefined;
      return answer;
    } catch (error) {
      this.mistake = error instanceof EngineError && error.isMistake ? error : undefined;
      throw error;
    }
  }

  /** A beat tells whose it is. */
  #refused(): void {
    this.isRefused = true;
    this.deps.shares.beatNow();
  }
}

/** Keeps what is known of the whole application. All processes know it, and each writes what it has learned. */
export const factsPort = ({ engine, keys: { meta }, shares }: PortDeps): StorePort => ({
  unitOf: () => '',
  load: async () => {
    const all = entriesOf((await engine.call(shares.limit, 'HGETALL', meta)) as unknown[]);
    return all.filter(([key]) => kindOf(key) === 'fact');
  },
  write: async (_, changes, all, isAnew) => {
    for (const [key, value] of isAnew ? all() : changes)
      if (value === undefined) await engine.call(shares.limit, 'HDEL', meta, key);
      else await engine.call(shares.limit, 'HSET', meta, key, textOf(value));
    return true;
  },
});

/** An empty text removes an entry. */
const textOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));

/** The entries of a hash, as the engine answers it. What is no JSON is left out: a bad entry costs itself, and others are no entries. */
function entriesOf(answer: readonly unknown[]): [key: string, value: unknown][] {
  const found: [string, unknown][] = [];
  for (let at = 0; at < answer.length; at += 2)
    try {
      found.push([String(answer[at]), JSON.parse(String(answer[at + 1]))]);
    } catch {
      // Such as the number of the last write.
    }
  return found;
}
