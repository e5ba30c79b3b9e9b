import { kindOf, type Entries, type StorePort } from '../store/store';
import type { Engine } from './engine';
import { LOAD, WRITE, type Keys } from './scripts';

/** What must not act twice or be forgotten, also if the engine fails over at once. */
const DURABLE = new Set(['command', 'pin', 'busy']);

/** Milliseconds that a replica has for it: what comes after, beats included, waits meanwhile. */
const REPLICATED = 100;

/** A claim of a share: another claim of the same share, before or after, has another epoch. */
export interface Hold {
  readonly share: number;
  readonly epoch: number;
  readonly member: string;
}

export interface SharePortOptions {
  readonly engine: Pick<Engine, 'run' | 'call'>;
  readonly keys: Keys;
  readonly hold: Hold;
  /** Milliseconds that a command may take. */
  readonly limit: () => number;
  /** Replicas of the engine. */
  readonly replicas: () => number;
  readonly now: () => number;
  /** Is called if the engine says that the share belongs to another process, or to nobody: a beat tells. */
  readonly onRefused: () => void;
}

/**
 * Keeps the entries of one share in a hash of the engine, as long as the share is this process's. One write is under way at a time; each
 * has a number, so that one that is repeated, or comes late over an old connection, changes nothing.
 */
export class SharePort implements StorePort {
  readonly #options: SharePortOptions;
  /** What the engine has once all is written, so that it can be written anew. */
  readonly #texts = new Map<string, string>();
  #sequence = 0;
  #last: Promise<unknown> = Promise.resolve();
  #isAnew = false;
  #isRefused = false;
  /** When the oldest write of a unit began that is not answered yet, or has failed: others tell nothing about it. */
  readonly #stalled = new Map<string, number>();

  constructor(options: SharePortOptions) {
    this.#options = options;
  }

  /** When the oldest write began that is not answered yet, or has failed; Infinity if there is none. */
  get stalledSince(): number {
    return Math.min(...this.#stalled.values());
  }

  /** Whether the engine has said that the share is not this process's. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  unitOf(key: string): string {
    return kindOf(key);
  }

  async load(): Promise<[key: string, value: unknown][] | undefined> {
    const { engine, keys, hold, limit } = this.#options;
    const { share, epoch, member } = hold;
    const args = [share, epoch, member];
    const answer = await engine.run(limit(), LOAD, [keys.shares, keys.share(share)], args);
    if (!Array.isArray(answer)) {
      this.#refused();
      return undefined;
    }
    const found: [string, unknown][] = [];
    for (let at = 0; at < answer.length; at += 2) {
      const [key, text] = [String(answer[at]), String(answer[at + 1])];
      if (key === '~') continue;
      this.#texts.set(key, text);
      const value = parsed(text);
      if (value !== undefined) found.push([key, value]);
    }
    return found;
  }

  write(unit: string, changes: Entries): Promise<boolean> {
    return this.#inTurn(unit, () => {
      const texts = new Map<string, string>();
      for (const [key, value] of changes)
        texts.set(key, value === undefined ? '' : JSON.stringify(value));
      for (const [key, text] of texts) this.#texts.set(key, text);
      return this.#send(texts);
    });
  }

  /** The engine has lost what was written: writes all of it anew. Rejects if that is to be tried again. */
  async writeAnew(): Promise<boolean> {
    this.#isAnew = true;
    return this.#inTurn('all', () =>
      this.#isAnew ? this.#send(new Map()) : Promise.resolve(true),
    );
  }

  /** Resolves once no write is under way. */
  async idle(): Promise<void> {
    await this.#last;
  }

  async #inTurn<T>(unit: string, write: () => Promise<T>): Promise<T> {
    if (!this.#stalled.has(unit)) this.#stalled.set(unit, this.#options.now());
    const writing = this.#last.then(write);
    this.#last = writing.catch(() => undefined);
    const result = await writing;
    this.#stalled.delete(unit);
    return result;
  }

  #refused(): void {
    this.#isRefused = true;
    this.#options.onRefused();
  }

  async #send(texts: ReadonlyMap<string, string>): Promise<boolean> {
    const { engine, keys, hold, limit, replicas } = this.#options;
    const { share, epoch, member } = hold;
    const isAnew = this.#isAnew;
    const written = [...(isAnew ? this.#texts : texts)];
    const head = [share, epoch, member, ++this.#sequence, isAnew ? 1 : 0];
    const args = [...head, ...written.flat()];
    const answer = await engine.run(limit(), WRITE, [keys.shares, keys.share(share)], args);
    if (answer !== 1) {
      this.#refused();
      // The engine may have lost whose the share is. Only a beat says that it is another process's: then nothing is tried again.
      throw new Error('The engine says that the share is another process’s.');
    }
    if (isAnew) this.#isAnew = false;
    for (const [key, text] of written)
      if (text === '' && this.#texts.get(key) === '') this.#texts.delete(key);
    // Otherwise a failover within the same second could forget it.
    if (replicas() > 0 && written.some(([key]) => DURABLE.has(kindOf(key))))
      await engine.call(limit(), 'WAIT', 1, REPLICATED).catch(() => undefined);
    return true;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // One bad entry costs itself.
    return undefined;
  }
}
