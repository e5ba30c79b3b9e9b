import { fnv1a } from '../util/fnv1a';
import { WHOLE, type ClusterState } from '../util/guard';
import { kindOf, type Keeping, type Store } from './store';

/** The parts into which the devices of an application are divided. */
export const SHARES = 64;

/** The share of a device. What is about the {@link WHOLE} application belongs to the first one. */
export const shareOf = (chipid: string): number => (chipid === WHOLE ? 0 : fnv1a(chipid) % SHARES);

/** The share of the device that an entry is about. */
function shareOfKey(key: string): number {
  const [kind = '', first = '', ...rest] = key.split(':');
  const device = ['command', 'pin', 'busy'].includes(kind) ? first : rest.join(':');
  return shareOf(/^\d+$/.test(device) ? device : WHOLE);
}

/**
 * The store of a process in a cluster: the entries of its own devices, and what is known of the whole application. Changes to entries
 * of other processes' devices are ignored.
 */
export class SharedStore implements Keeping {
  readonly onProblem = new Set<() => void>();
  /** Are called once for all shares that move together, and when this process may act again: what it could not emit is to follow. */
  readonly onMoved = new Set<() => void>();
  /** Resolves once it is known in which cluster the entries are. */
  readonly loaded: Promise<void>;
  #setLoaded!: () => void;
  #facts: Store | undefined;
  readonly #shares = new Map<number, Store>();
  #problem: string | undefined;
  #state: ClusterState | undefined;
  #isMoving = false;

  constructor() {
    this.loaded = new Promise((resolve) => (this.#setLoaded = resolve));
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  get state(): ClusterState | undefined {
    return this.#state;
  }

  /** The shares of this process of which the entries are loaded. */
  get shares(): ReadonlyMap<number, Store> {
    return this.#shares;
  }

  /** It has joined. @param facts what all processes know */
  attach(facts: Store): void {
    this.#facts = facts;
    void facts.loaded.then(() => this.moved());
    this.#setLoaded();
  }

  /** A share has come, and its entries are loaded. */
  begin(share: number, entries: Store): void {
    this.#shares.set(share, entries);
    this.moved();
  }

  /** A share has gone. @returns whether it had begun */
  end(share: number): boolean {
    this.moved();
    return this.#shares.delete(share);
  }

  /** Something has come or gone, or this process may act again. */
  moved(): void {
    if (this.#isMoving) return;
    this.#isMoving = true;
    setImmediate(() => {
      this.#isMoving = false;
      for (const listener of this.onMoved) listener();
    });
  }

  /** How this process is among the others may have changed. */
  changed(state: ClusterState, problem: string | undefined): void {
    if (problem === this.#problem && state === this.#state) return;
    this.#problem = problem;
    this.#state = state;
    for (const listener of this.onProblem) listener();
  }

  isWritten(key: string): boolean {
    return this.#storeOf(key)?.isWritten(key) ?? false;
  }

  get(key: string): unknown {
    return this.#storeOf(key)?.get(key);
  }

  /** Of all shares of this process. */
  list(prefix: string): [key: string, value: unknown][] {
    return [...this.#shares.values()].flatMap((entries) => entries.list(prefix));
  }

  count(kind: string): number {
    return [...this.#shares.values()].reduce((sum, entries) => sum + entries.count(kind), 0);
  }

  /** As of {@link Store}; false also if the share is not this process's. */
  set(key: string, value: unknown): Promise<boolean> {
    return this.#storeOf(key)?.set(key, value) ?? Promise.resolve(false);
  }

  /** As of {@link Store}; nothing happens if the share is not this process's. */
  update(key: string, value: unknown): void {
    this.#storeOf(key)?.update(key, value);
  }

  /** What is kept was written when the process left the cluster. */
  close(): Promise<void> {
    this.#setLoaded();
    return Promise.resolve();
  }

  #storeOf(key: string): Store | undefined {
    return kindOf(key) === 'fact' ? this.#facts : this.#shares.get(shareOfKey(key));
  }
}
