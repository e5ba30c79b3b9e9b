import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What is kept, by the first part of its key: how far uploads were emitted (`position:NODE:CHIP`), commands that wait
 * (`command:CHIP:ID`), levels that pins are to keep (`pin:CHIP:N`), states that were emitted (`event:NODE:CHIP`), devices seen
 * (`seen:NODE:CHIP`), how far histories were emitted (`mark:NODE:PLACE`), subscriptions (`subscribed:NODE:CHIP`), what was
 * learned (`fact:NAME`), and, in a cluster alone, until when a command is under way (`busy:CHIP`).
 */
export const KINDS = 'position command pin event seen mark subscribed fact busy'.split(' ');

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
   * Writes changes of a unit, all or none. Rejects if it is unknown whether they are written: they are written again.
   * @param all the entries of the unit, with the changes
   * @param isAnew whether what was written is lost: then all are to be written
   * @returns false if they are refused, since they are another process's
   */
  write(unit: string, changes: Entries, all: () => Entries, isAnew: boolean): Promise<boolean>;
}

/** Where nothing survives the process. */
export const MEMORY: StorePort = {
  load: () => Promise.resolve([]),
  unitOf: () => '',
  write: () => Promise.resolve(true),
};

/** Milliseconds until a change is written that nobody waits for: usually, and of a kind with {@link MANY} entries or more. */
const PACE = 1000;
const PACE_OF_MANY = 5000;
const MANY = 500;

/** Milliseconds until what has failed is tried again. */
const RETRY = 1000;

/** Runs one piece of work at a time. All that ask for it while it runs share the run after it. */
export class Coalescer<T> {
  readonly #work: () => Promise<T>;
  #last: Promise<unknown>;
  #next: Promise<T> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param work must not reject @param ready what the first run waits for */
  constructor(work: () => Promise<T>, ready: Promise<unknown> = Promise.resolve()) {
    this.#work = work;
    this.#last = ready;
  }

  /** @returns the result of a run that has not begun yet */
  run(): Promise<T> {
    if (this.#next) return this.#next;
    const next = this.#last.then(() => {
      this.#next = undefined;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      return this.#work();
    });
    [this.#last, this.#next] = [next, next];
    return next;
  }

  /** Has a run begin within some milliseconds. */
  runWithin(ms: number): void {
    this.#timer ??= setTimeout(() => void this.run(), ms).unref();
  }
}

/** Among the keys that have changed, stands for all. */
const ALL = '*';

interface Unit {
  changed: Set<string>;
  readonly writes: Coalescer<boolean>;
}

/** What a {@link Store} is for those who keep something in it, wherever it is kept. */
export type Keeping = Omit<Store, 'rewrite'>;

/** All that survives a restart. Everything is in memory, and is written in the background. */
export class Store {
  /** Are called when {@link problem} has changed. */
  readonly onProblem = new Set<() => void>();
  /** Are called when entries of devices have come or gone, as they do between processes of a cluster alone. */
  readonly onMoved = new Set<() => void>();
  readonly #port: StorePort;
  readonly #entries = new Map(KINDS.map((kind) => [kind, new Map<string, unknown>()]));
  readonly #units = new Map<string, Unit>();
  /** The keys of those entries whose latest change is not written. */
  readonly #unconfirmed = new Set<string>();
  readonly #failures = new Map<string, string>();
  readonly #closing = new AbortController();
  #loading: Promise<void> | undefined;

  constructor(port: StorePort) {
    this.#port = port;
  }

  /** Resolves once everything is loaded, or the store is closed. */
  get loaded(): Promise<void> {
    return (this.#loading ??= this.#load());
  }

  /** Why something does not survive a restart, in a sentence; undefined if all does. */
  get problem(): string | undefined {
    return this.#failures.values().next().value;
  }

  /** Whether the latest change of an entry is written. */
  isWritten(key: string): boolean {
    return !this.#unconfirmed.has(key);
  }

  get(key: string): unknown {
    return this.#of(key).get(key);
  }

  /** The entries whose keys begin with a kind and what follows it, such as `position:a1b2:`. */
  list(prefix: string): [key: string, value: unknown][] {
    return [...this.#of(prefix)].filter(([key]) => key.startsWith(prefix));
  }

  /** How many entries there are of a kind. */
  count(kind: string): number {
    return this.#of(`${kind}:`).size;
  }

  /**
   * Sets an entry, and has it written at once. Never rejects.
   * @param value what JSON can hold; undefined removes the entry
   * @returns whether it is written. If not, that is tried again, or it was refused: then the entry is gone
   */
  set(key: string, value: unknown): Promise<boolean> {
    return this.#change(key, value).writes.run();
  }

  /** Sets an entry that nobody waits for. @param value as of {@link set}; its `toJSON` is called when it is written */
  update(key: string, value: unknown): void {
    // By then, the store of the next deploy may have read what is there.
    if (this.#closing.signal.aborted) return;
    const { writes } = this.#change(key, value);
    writes.runWithin(this.#of(key).size < MANY ? PACE : PACE_OF_MANY);
  }

  /** What was written is lost: has everything written anew, by a port that writes all kinds together. */
  rewrite(): void {
    const unit = this.#unitOf('position:');
    unit.changed.add(ALL);
    void unit.writes.run();
  }

  /** Writes what is left, as far as that is possible. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#units.values()].map(({ writes }) => writes.run()));
  }

  #of(key: string): Map<string, unknown> {
    const entries = this.#entries.get(kindOf(key));
    if (!entries) throw new TypeError(`no kind of entries: ${key}`);
    return entries;
  }

  #change(key: string, value: unknown): Unit {
    const entries = this.#of(key);
    if (value === undefined) entries.delete(key);
    else entries.set(key, value);
    const unit = this.#unitOf(key);
    unit.changed.add(key);
    this.#unconfirmed.add(key);
    return unit;
  }

  #unitOf(key: string): Unit {
    const name = this.#port.unitOf(key);
    const unit: Unit = this.#units.get(name) ?? {
      changed: new Set(),
      writes: new Coalescer(() => this.#write(name, unit), this.loaded),
    };
    this.#units.set(name, unit);
    return unit;
  }

  /** What is older never overrides what has changed since, removals included. */
  async #load(): Promise<void> {
    const { signal } = this.#closing;
    do {
      try {
        for (const [key, value] of (await this.#port.load()) ?? [])
          if (!this.#unconfirmed.has(key)) this.#entries.get(kindOf(key))?.set(key, value);
        this.#report('load');
        return;
      } catch (error) {
        this.#report('load', error);
        await sleep(RETRY, undefined, { signal, ref: false }).catch(() => undefined);
      }
    } while (!signal.aborted);
  }

  /** Writes what has changed of a unit. @returns whether it is written; it is false also if it was refused. Never rejects */
  async #write(name: string, unit: Unit): Promise<boolean> {
    const { changed } = unit;
    unit.changed = new Set();
    const keys = [...changed].filter((key) => key !== ALL);
    try {
      // Nothing is written over what could not be read.
      if (this.#failures.has('load')) throw new Error(this.#failures.get('load'));
      const changes = new Map(keys.map((key) => [key, this.#of(key).get(key)]));
      const all = (): Entries => this.#allOf(name);
      const isAnew = changed.has(ALL);
      const isWritten = changed.size === 0 || (await this.#port.write(name, changes, all, isAnew));
      if (!isWritten) for (const key of keys) this.#of(key).delete(key);
      for (const key of keys) if (!unit.changed.has(key)) this.#unconfirmed.delete(key);
      this.#report(name);
      if (unit.changed.size === 0) this.#units.delete(name);
      return isWritten;
    } catch (error) {
      // What has changed since is newer, and is written with it.
      for (const key of changed) unit.changed.add(key);
      if (!this.#closing.signal.aborted) unit.writes.runWithin(RETRY);
      this.#report(name, error);
      return false;
    }
  }

  /** The entries of a unit, which is a kind, or all of them. */
  #allOf(name: string): Entries {
    const kinds = [...this.#entries.values()];
    return this.#entries.get(name) ?? new Map(kinds.flatMap((entries) => [...entries]));
  }

  #report(name: string, error?: unknown): void {
    const before = this.problem;
    if (error === undefined) this.#failures.delete(name);
    else this.#failures.set(name, (error as Error).message);
    if (this.problem !== before) for (const listener of this.onProblem) listener();
  }
}
