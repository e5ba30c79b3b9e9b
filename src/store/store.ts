import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What is kept, by the first part of its key: how far uploads were emitted (`position:NODE:CHIP`), commands that wait
 * (`command:CHIP:ID`), levels that pins are to keep (`pin:CHIP:N`), states that were emitted (`event:NODE:CHIP`), devices seen
 * (`seen:NODE:CHIP`), how far histories were emitted (`mark:NODE:PLACE`), subscriptions (`subscribed:NODE:CHIP`), and what was
 * learned (`fact:NAME`).
 */
export const KINDS = 'position command pin event seen mark subscribed fact'.split(' ');

export const kindOf = (key: string): string => key.slice(0, key.indexOf(':'));

/** Entries by key. In changes, undefined stands for one that is removed. */
export type Entries = ReadonlyMap<string, unknown>;

/** Where entries are kept: files of one process, or what it holds of an engine that several processes share. */
export interface StorePort {
  /** @returns undefined if they are another process's. Rejects if it is to be tried again */
  load(): Promise<Iterable<readonly [key: string, value: unknown]> | undefined>;
  /** What is written together: of each, one write is under way at a time. */
  unitOf(key: string): string;
  /**
   * Writes changes of a unit, all or none.
   * @param all the entries of that kind, with the changes
   * @returns false if they are refused, since they are another process's. Rejects if it is unknown whether they are written: they
   * are written again
   */
  write(unit: string, changes: Entries, all: Entries): Promise<boolean>;
}

/** Milliseconds between two writes that nobody waits for: usually, and of a kind with {@link MANY} entries or more. */
const PACE = 1000;
const PACE_OF_MANY = 5000;
const MANY = 500;

/** Milliseconds until what has failed is tried again, and that the last writes may take before the process ends. */
const RETRY = 1000;
const LAST_WRITES = 3000;

class Unit {
  changed = new Set<string>();
  /** When the oldest change was made that is not written. */
  since = Infinity;
  waiting: ((isWritten: boolean) => void)[] = [];
  lastWrite = -Infinity;
  /** Ends the pause before the next write. */
  pause = new AbortController();
  writing: Promise<void> | undefined;
}

/** All that survives a restart. Everything is in memory, and is written in the background. */
export class Store {
  /** Are called when {@link problem} has changed. */
  readonly onProblem = new Set<() => void>();
  readonly #port: StorePort;
  readonly #entries = new Map(KINDS.map((kind) => [kind, new Map<string, unknown>()]));
  readonly #units = new Map<string, Unit>();
  readonly #failures = new Map<string, string>();
  readonly #closing = new AbortController();
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #problem: string | undefined;

  constructor(port: StorePort) {
    this.#port = port;
  }

  /** Resolves once everything is loaded, or the store is closed. */
  get loaded(): Promise<void> {
    return (this.#loading ??= this.#load());
  }

  /** Why something does not survive a restart, in a sentence; undefined if all does. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** When the oldest change was made that is not written; Infinity if all is. */
  get oldestUnconfirmed(): number {
    return Math.min(...[...this.#units.values()].map(({ since }) => since));
  }

  get(key: string): unknown {
    return this.#of(key).get(key);
  }

  /** The entries whose keys begin with a kind and what follows it, such as `position:a1b2:`. */
  list(prefix: string): [key: string, value: unknown][] {
    const all = [...this.#of(prefix)];
    return all.filter(([key, value]) => value !== undefined && key.startsWith(prefix));
  }

  /**
   * Sets an entry, and has it written at once.
   * @param value what JSON can hold; undefined removes the entry
   * @returns whether it is written. It is false if it could not be for now, and is tried again, or if it was refused: then the
   * entry is gone. Never rejects
   */
  set(key: string, value: unknown): Promise<boolean> {
    const unit = this.#change(key, value);
    unit.pause.abort();
    return new Promise((resolve) => unit.waiting.push(resolve));
  }

  /** Sets an entry that nobody waits for. @param value as of {@link set}; its `toJSON` is called when it is written */
  update(key: string, value: unknown): void {
    this.#change(key, value);
  }

  /** Writes what is left, for at most 3 s. */
  async close(): Promise<void> {
    this.#closing.abort();
    const units = [...this.#units.values()];
    for (const { pause } of units) pause.abort();
    const over = new AbortController();
    const limit = sleep(LAST_WRITES, undefined, over).catch(() => undefined);
    const written = Promise.all(units.map(({ writing = Promise.resolve() }) => writing));
    await Promise.race([written, limit]);
    over.abort();
  }

  #of(key: string): Map<string, unknown> {
    const entries = this.#entries.get(kindOf(key));
    if (!entries) throw new TypeError(`no kind of entries: ${key}`);
    return entries;
  }

  #change(key: string, value: unknown): Unit {
    const entries = this.#of(key);
    // Before everything is loaded, what was removed hides what is read.
    if (value === undefined && this.#isLoaded) entries.delete(key);
    else entries.set(key, value);
    const name = this.#port.unitOf(key);
    const unit = this.#units.get(name) ?? new Unit();
    this.#units.set(name, unit);
    unit.since = Math.min(unit.since, performance.now());
    unit.changed.add(key);
    unit.writing ??= this.#writeAll(name, unit, entries);
    return unit;
  }

  async #load(): Promise<void> {
    const { signal } = this.#closing;
    for (let found; !found && !signal.aborted;) {
      try {
        found = (await this.#port.load()) ?? [];
        this.#report('load');
      } catch (error) {
        this.#report('load', error);
        await rest(RETRY, signal);
        continue;
      }
      // What is older never overrides what is newer.
      for (const [key, value] of found) {
        const entries = this.#entries.get(kindOf(key));
        if (entries && !entries.has(key)) entries.set(key, value);
      }
      this.#isLoaded = true;
    }
    for (const entries of this.#entries.values())
      for (const [key, value] of entries) if (value === undefined) entries.delete(key);
  }

  /** Writes a unit until nothing of it has changed. Never rejects. */
  async #writeAll(name: string, unit: Unit, entries: Map<string, unknown>): Promise<void> {
    await this.loaded;
    const { signal } = this.#closing;
    let isTried = false;
    do {
      const pace = entries.size < MANY ? PACE : PACE_OF_MANY;
      if (isTried) await rest(RETRY, signal);
      else await rest(unit.lastWrite + pace - performance.now(), unit.pause.signal);
      isTried = !(await this.#write(name, unit, entries));
    } while (unit.changed.size > 0 && !(isTried && signal.aborted));
    unit.writing = undefined;
    // Those of commands are many.
    if (!KINDS.includes(name)) this.#units.delete(name);
  }

  /** @returns whether it is written, or refused */
  async #write(name: string, unit: Unit, entries: Map<string, unknown>): Promise<boolean> {
    const { changed, waiting, since } = unit;
    Object.assign(unit, { changed: new Set(), waiting: [], pause: new AbortController() });
    unit.lastWrite = performance.now();
    let isWritten = false;
    try {
      if (!this.#isLoaded) throw new Error('What was kept before could not be read.');
      const changes = new Map([...changed].map((key) => [key, entries.get(key)]));
      isWritten = await this.#port.write(name, changes, entries);
      if (!isWritten) for (const key of changed) entries.delete(key);
      unit.since = unit.changed.size > 0 ? unit.lastWrite : Infinity;
      this.#report(name);
      return true;
    } catch (error) {
      // What has changed since is newer, and is written with it.
      for (const key of changed) unit.changed.add(key);
      unit.since = since;
      this.#report(name, error);
      return false;
    } finally {
      for (const resolve of waiting) resolve(isWritten);
    }
  }

  #report(name: string, error?: unknown): void {
    if (error === undefined) this.#failures.delete(name);
    else this.#failures.set(name, (error as Error).message);
    const problem = this.#failures.values().next().value;
    if (problem === this.#problem) return;
    this.#problem = problem;
    for (const listener of this.onProblem) listener();
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
