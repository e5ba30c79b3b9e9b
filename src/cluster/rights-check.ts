import type { Clock } from './clock';
import type { Store } from './store';

/** Milliseconds from one look to the next: usually, and while there is something to be explained. */
const EVERY = { usually: 60_000, explaining: 1000 };

export interface RightsCheckOptions {
  readonly store: Pick<Store, 'forbidden'>;
  readonly clock: Clock;
  /** Is called with what the engine forbids; throws nothing. */
  readonly forbidden: (rights: readonly string[]) => void;
}

/** Looks once in a while whether the engine allows what is needed: some of it is needed rarely, or fails unseen. */
export class RightsCheck {
  private last = -Infinity;
  private hasFailed = false;

  constructor(private readonly options: RightsCheckOptions) {}

  /** Looks, if it is time. @param isRefused whether the engine has refused something */
  run(isRefused: boolean): void {
    const { store, clock, forbidden } = this.options;
    const every = isRefused || this.hasFailed ? EVERY.explaining : EVERY.usually;
    if (clock.monotonic() - this.last < every) return;
    this.last = clock.monotonic();
    store.forbidden().then(
      (rights) => {
        this.hasFailed = false;
        if (rights.length > 0) forbidden(rights);
      },
      () => (this.hasFailed = true),
    );
  }
}
