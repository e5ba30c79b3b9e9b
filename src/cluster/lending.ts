import { randomUUID } from 'node:crypto';
import type { Keeping } from '../store/store';
import type { Calls } from './calls';
import { WHOLE } from '../util/guard';

/** Milliseconds for which something is lent at most, and for which it is tried to be given back. */
const LENT = 10_000;
const PATIENCE = 12_000;

/** Entries that are lent. */
export interface Lent extends Pick<Keeping, 'get' | 'list' | 'update' | 'loaded'> {
  /** Has what has changed written, and others borrow them. */
  giveBack(): Promise<void>;
}

interface Loan {
  readonly id: string;
  readonly end: () => void;
}

type Entries = readonly (readonly [key: string, value: unknown])[];

/** Entries about the whole application, which the process that keeps them lends to one process at a time. */
export class Lending {
  readonly #calls: () => Pick<Calls, 'callAtOnce'>;
  readonly #store: Pick<Keeping, 'list' | 'update'>;
  /** By prefix: what is lent, and the end of the latest loan that was asked for. */
  readonly #loans = new Map<string, Loan>();
  readonly #queues = new Map<string, Promise<void>>();

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
        await this.#ask('give-back', [prefix, id, [...changes]]);
      },
    };
  }

  /** Lends them, once they are back from whoever has borrowed them before. @returns the id of the loan, too */
  async lend(prefix: string): Promise<[id: string, entries: Entries]> {
    const before = this.#queues.get(prefix);
    let end!: () => void;
    const whenOver = new Promise<void>((resolve) => (end = resolve));
    this.#queues.set(prefix, whenOver);
    await before;
    // What comes back late may be of a loan of the process that kept them before.
    const loan = { id: randomUUID(), end };
    this.#loans.set(prefix, loan);
    const timer = setTimeout(end, LENT).unref();
    void whenOver.then(() => {
      clearTimeout(timer);
      this.#loans.delete(prefix);
      if (this.#queues.get(prefix) === whenOver) this.#queues.delete(prefix);
    });
    return [loan.id, this.#store.list(prefix)];
  }

  /** They are back. What comes too late is not written: others have them by then. */
  takeBack(prefix: string, id: string, changes: Entries): void {
    const loan = this.#loans.get(prefix);
    if (loan?.id !== id) return;
    for (const [key, value] of changes) this.#store.update(key, value ?? undefined);
    loan.end();
  }

  #ask(name: string, args: readonly unknown[]): Promise<unknown> {
    // What is given back must not wait for what somebody else here is yet to be lent.
    return this.#calls().callAtOnce(name, WHOLE, args, LENT + PATIENCE, PATIENCE);
  }
}
