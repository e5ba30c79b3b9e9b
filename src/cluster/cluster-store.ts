import type { Keeping } from '../store/store';
import type { Cluster } from './cluster';

/**
 * What a process keeps with others: everything of the devices that are its own, in the engine. What is set of a device of another
 * process is dropped: its owner knows better.
 */
export class ClusterStore implements Keeping {
  readonly onProblem = new Set<() => void>();
  /** Are called when entries have come with shares, or have gone with them, once for all shares that move together. */
  readonly onMoved = new Set<() => void>();
  readonly loaded: Promise<void>;
  #setLoaded!: () => void;
  #cluster: Cluster | undefined;
  #problem: string | undefined;
  #isMoving = false;

  constructor() {
    this.loaded = new Promise((resolve) => (this.#setLoaded = resolve));
  }

  get problem(): string | undefined {
    return this.#cluster?.problem;
  }

  get oldestUnconfirmed(): number {
    return this.#cluster?.oldestUnconfirmed ?? Infinity;
  }

  isWritten(key: string): boolean {
    return this.#cluster?.isWritten(key) ?? false;
  }

  /** From now on, what it has is in this cluster. */
  attach(cluster: Cluster): void {
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

  /** Something about the cluster has changed. */
  changed(): void {
    if (this.problem === this.#problem) return;
    this.#problem = this.problem;
    for (const listener of this.onProblem) listener();
  }

  get(key: string): unknown {
    return this.#cluster?.get(key);
  }

  list(prefix: string): [key: string, value: unknown][] {
    return this.#cluster?.list(prefix) ?? [];
  }

  set(key: string, value: unknown): Promise<boolean> {
    return this.#cluster?.set(key, value) ?? Promise.resolve(false);
  }

  update(key: string, value: unknown): void {
    this.#cluster?.update(key, value);
  }

  /** What is kept was written when the process left the cluster. */
  close(): Promise<void> {
    this.#setLoaded();
    return Promise.resolve();
  }
}
