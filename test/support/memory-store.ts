import { kindOf, Store, type Entries, type StorePort } from '../../src/store/store';

/** Where a store of a test keeps its entries, as JSON, over restarts. */
export class MemoryPort implements StorePort {
  readonly kept = new Map<string, string>();
  /** What reading and writing fail with. */
  failure: Error | undefined;
  /** Keys that are another process's by now. */
  readonly refused = new Set<string>();

  load(): Promise<[key: string, value: unknown][]> {
    if (this.failure) return Promise.reject(this.failure);
    return Promise.resolve(this.entries());
  }

  unitOf(key: string): string {
    return kindOf(key) === 'command' ? key : kindOf(key);
  }

  write(_unit: string, changes: Entries): Promise<boolean> {
    if (this.failure) return Promise.reject(this.failure);
    for (const [key, value] of changes) {
      if (this.refused.has(key)) return Promise.resolve(false);
      if (value === undefined) this.kept.delete(key);
      else this.kept.set(key, JSON.stringify(value));
    }
    return Promise.resolve(true);
  }

  /** What a process that starts now would read. */
  entries(): [key: string, value: unknown][] {
    return [...this.kept].map(([key, text]) => [key, JSON.parse(text) as unknown]);
  }
}

/** A store in memory. */
export const memoryStore = (port = new MemoryPort()): Store => new Store(port);
