import type { Clock } from './clock';
import type { Store } from './store';

/** Milliseconds from one look to the next, and to the next one if it failed. */
const EVERY = { done: 60_000, failed: 1000 };

export interface RightsCheckOptions {
  readonly store: Pick<Store, 'forbidden'>;
  readonly clock: Clock;
  /** Is called with what the engine forbids; throws nothing. */
  readonly forbidden: (rights: readonly string[]) => void;
}

/** Looks once in a while whether the engine allows what is needed: some of it is needed rarely, or fails unseen. */
export class RightsCheck {
  private due = -Infinity;

  constructor(private readonly options: RightsCheckOptions) {}

  /** Looks, if it is time. */
  run(): void {
    const { store, clock, forbidden } = this.options;
    if (clock.monotonic() < this.due) return;
    this.due = clock.monotonic() + EVERY.done;
    store.forbidden().then(
      (rights) => {
        if (rights.length > 0) forbidden(rights);
      },
      () => (this.due = clock.monotonic() + EVERY.failed),
    );
  }
}
