import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queues } from '../commands/queue';
import type { Keeping } from '../store/store';
import { WHOLE } from '../util/guard';
import type { Calls } from './calls';

/** Milliseconds for which something is lent at most, and for which it is tried to be given back. */
const LENT = 10_000;
const PATIENCE = 12_000;

/** Entries that are lent. */
export interface Lent extends Pick<Keeping, 'get' | 'list' | 'update' | 'loaded'> {
  /** Has what has changed written, and others borrow them. */
  giveBack(): Promise<void>;
}

type Entries = readonly (readonly [key: string, value: unknown])[];

/** Entries about the whole application, which the process that keeps them lends to one process at a time. */
export class Lending {
  readonly #calls: () => Pick<Calls, 'callAtOnce'>;
  readonly #store: Pick<Keeping, 'list' | 'update'>;
  /** By what begins the keys of entries: one loan of them at a time. */
  readonly #turns = new Queues(0);
  /** What ends the loans. */
  readonly #loans = new Map<string, AbortController>();

  constructor(store: Pick<Keeping, 'list' | 'update'>, calls: () => Pick<Calls, 'callAtOnce'>) {
    this.#store = store;
    this.#calls = calls;
  }

  /**
   * Borrows entries, which others do for 10 s at most.
   * @throws DeviceCloudError as of a call
   */
  async borrow(prefix: string): Promise<Lent> {
    const [id, found] = (await this.#ask('lend', [prefix])) as [string, Entries];
    const entries = new Map(found);
    const changes = new Map<string, unknown>();
    return {
      loaded: Promise.resolve(),
      get: (key) => entries.get(key),
      list: () => [...entries],
      update: (key, value) => {
        changes.set(key, value);
        // What is set anew is the latest.
        entries.delete(key);
        if (value !== undefined) entries.set(key, value);
      },
      giveBack: async () => {
        await this.#ask('give-back', [id, [...changes]]);
      },
    };
  }

  /** Lends them, once they are back from whoever has borrowed them before. @returns the id of the loan, too */
  lend(prefix: string): Promise<[id: string, entries: Entries]> {
    return new Promise((resolve, reject) => {
      const loan = async (): Promise<void> => {
        // What comes back late may be of a loan of the process that kept them before.
        const id = randomUUID();
        const over = new AbortController();
        this.#loans.set(id, over);
        resolve([id, this.#store.list(prefix)]);
        await sleep(LENT, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
        this.#loans.delete(id);
      };
      this.#turns.call(prefix, loan).catch(reject);
    });
  }

  /** They are back. What comes too late is not written: others have them by then. */
  takeBack(id: string, changes: Entries): void {
    const over = this.#loans.get(id);
    if (!over) return;
    for (const [key, value] of changes) this.#store.update(key, value ?? undefined);
    over.abort();
  }

  #ask(name: string, args: readonly unknown[]): Promise<unknown> {
    // What is given back must not wait for what somebody else here is yet to be lent.
    return this.#calls().callAtOnce(name, WHOLE, args, LENT + PATIENCE, PATIENCE);
  }
}
