/** Milliseconds for which a channel stays open after its last use. */
const KEEP = 5 * 60_000;

/** A subscription that can be kept. */
interface Releasable {
  release(): void;
}

interface Kept<S> {
  subscription: S;
  timer: NodeJS.Timeout | undefined;
  users: number;
}

/**
 * Subscriptions that commands share: one per device, opened by the first command and released five
 * minutes after the last, so that a channel is not opened anew for each of them.
 */
export class KeptSubscriptions<S extends Releasable> {
  readonly #kept = new Map<string, Kept<S>>();
  #closed = false;

  /**
   * Uses the subscription of a device, until {@link leave}.
   * @param open joins its channel, if none is kept
   */
  use(chipid: string, open: () => S): S {
    let kept = this.#kept.get(chipid);
    if (!kept) {
      kept = { subscription: open(), timer: undefined, users: 0 };
      this.#kept.set(chipid, kept);
    }
    clearTimeout(kept.timer);
    kept.users++;
    return kept.subscription;
  }

  /** Ends a use. Called once for each; it may come after the close. */
  leave(chipid: string, subscription: S): void {
    const kept = this.#kept.get(chipid);
    if (kept?.subscription !== subscription || --kept.users > 0) return;
    const release = (): void => {
      this.#kept.delete(chipid);
      subscription.release();
    };
    if (this.#closed) release();
    else kept.timer = setTimeout(release, KEEP);
  }

  /** Releases every subscription. */
  close(): void {
    this.#closed = true;
    for (const { subscription, timer } of this.#kept.values()) {
      clearTimeout(timer);
      subscription.release();
    }
    this.#kept.clear();
  }
}
