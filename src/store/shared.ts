import { WHOLE, type ClusterState } from '../util/guard';
import type { Keeping } from './store';

/** What a process of a cluster has of what is kept. */
export interface SharedEntries extends Omit<Keeping, 'loaded' | 'close' | 'onProblem' | 'onMoved'> {
  readonly state: ClusterState;
  mayAct(chipid: string): boolean;
  readonly calls: {
    call(
      name: string,
      chipid: string,
      args: unknown,
      ms: number,
      patience: number,
    ): Promise<unknown>;
  };
}

/** Milliseconds for which sending a fact to the process that stores it is retried. */
const PATIENCE = 60_000;

const isFact = (key: string): boolean => key.startsWith('fact:');

/**
 * The store of a process in a cluster: the entries of its own devices, in the engine. Changes to entries of other processes'
 * devices are ignored. Facts about the whole application are sent to the process that stores them.
 */
export class SharedStore implements Keeping {
  readonly onProblem = new Set<() => void>();
  /** Are called once for all shares that move together, and when this process may act again: what it could not emit is to follow. */
  readonly onMoved = new Set<() => void>();
  readonly loaded: Promise<void>;
  #setLoaded!: () => void;
  #cluster: SharedEntries | undefined;
  /** What is known of the application, where another process keeps it. */
  readonly #facts = new Map<string, unknown>();
  #problem: string | undefined;
  #state: ClusterState | undefined;
  #isMoving = false;

  constructor() {
    this.loaded = new Promise((resolve) => (this.#setLoaded = resolve));
  }

  get problem(): string | undefined {
    return this.#cluster?.problem;
  }

  get state(): ClusterState | undefined {
    return this.#cluster?.state;
  }

  get oldestUnconfirmed(): number {
    return this.#cluster?.oldestUnconfirmed ?? Infinity;
  }

  isWritten(key: string): boolean {
    return this.#cluster?.isWritten(key) ?? false;
  }

  /** From now on, what it has is in this cluster. */
  attach(cluster: SharedEntries): void {
    this.#cluster = cluster;
    this.#setLoaded();
  }

  /** A share has come or gone. */
  moved(): void {
    if (this.#isMoving) return;
    this.#isMoving = true;
    setImmediate(() => {
      this.#isMoving = false;
      for (const listener of this.onMoved) listener();
    });
  }

  /** Something about the cluster may have changed. */
  changed(): void {
    const { problem, state } = this.#cluster ?? {};
    if (problem === this.#problem && state === this.#state) return;
    this.#problem = problem;
    this.#state = state;
    for (const listener of this.onProblem) listener();
    if (state !== 'joined') return;
    this.moved();
    void this.#learn();
  }

  get(key: string): unknown {
    return this.#cluster?.get(key) ?? this.#facts.get(key);
  }

  list(prefix: string): [key: string, value: unknown][] {
    return this.#cluster?.list(prefix) ?? [];
  }

  set(key: string, value: unknown): Promise<boolean> {
    return this.#cluster?.set(key, value) ?? Promise.resolve(false);
  }

  update(key: string, value: unknown): void {
    const cluster = this.#cluster;
    cluster?.update(key, value);
    if (!isFact(key)) return;
    this.#facts.set(key, value);
    if (cluster && !cluster.mayAct(WHOLE))
      void cluster.calls
        .call('fact', WHOLE, [key, value], PATIENCE, PATIENCE)
        .catch(() => undefined);
  }

  /** What is known of the application: for processes that join. */
  facts(): [key: string, value: unknown][] {
    return this.list('fact:');
  }

  /** Asks for what is known of the application. */
  async #learn(): Promise<void> {
    const cluster = this.#cluster;
    if (!cluster || cluster.mayAct(WHOLE)) return;
    const facts = await cluster.calls
      .call('facts', WHOLE, [], PATIENCE, PATIENCE)
      .catch(() => undefined);
    if (!Array.isArray(facts)) return;
    for (const [key, value] of facts as [string, unknown][]) this.#facts.set(key, value);
    this.moved();
  }

  /** What is kept was written when the process left the cluster. */
  close(): Promise<void> {
    this.#setLoaded();
    return Promise.resolve();
  }
}
