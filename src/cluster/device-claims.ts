import type { Clock } from './clock';
import type { Share } from './store';

/**
 * Milliseconds for which the devices are still claimed after the last use has ended: a deploy ends all listeners and
 * begins them anew, and those to online devices read the list first.
 */
const KEPT = 10_000;

/** `listens`: its uploads are emitted here. `follows`: something here waits for uploads, whichever process emits them. */
export type DeviceUse = 'listens' | 'follows';

/**
 * Whether this process claims a share of the devices. Only a process that listens does, since nothing in another one
 * would open their channels. While no process listens, those that follow devices share them.
 */
export class DeviceClaims {
  readonly #users: Record<DeviceUse, number> = { listens: 0, follows: 0 };
  /** Cancel the ends of uses that are over. */
  readonly #ending = new Map<DeviceUse, () => void>();
  #isClosed = false;

  /** @param changed called when the claim has changed */
  constructor(
    private readonly clock: Clock,
    private readonly changed: () => void,
  ) {}

  get current(): Share[] {
    if (this.#isUsed('listens')) return ['devices'];
    return this.#isUsed('follows') ? ['spare devices'] : [];
  }

  /** @returns a function that ends the use */
  use(use: DeviceUse): () => void {
    const isNew = !this.#isUsed(use);
    this.#users[use]++;
    this.#cancel(use);
    if (isNew) this.changed();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#users[use] > 0 || this.#isClosed) return;
      const cancel = this.clock.after(KEPT, () => {
        this.#ending.delete(use);
        this.changed();
      });
      this.#ending.set(use, cancel);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel('listens');
    this.#cancel('follows');
  }

  #isUsed(use: DeviceUse): boolean {
    return this.#users[use] > 0 || this.#ending.has(use);
  }

  #cancel(use: DeviceUse): void {
    this.#ending.get(use)?.();
    this.#ending.delete(use);
  }
}
