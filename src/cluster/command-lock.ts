import { notSent } from '../commands/outcome';
import { deviceTitle } from '../util/show';
import { backoff } from '../util/backoff';
import type { Clock, Store } from './store';

/** Pauses between two attempts to lock, in ms: short at first, since most commands take no longer than one answer. */
const PAUSE = { shortest: 20, longest: 250 };

/** How much longer than its command a lock lasts, in ms: setting and ending it takes time as well. */
const MARGIN = 3000;

/** How long a command waits for the commands of other processes, in ms: long enough for several without an answer. */
const PATIENCE = 60_000;

interface DeviceLocksOptions {
  readonly store: Pick<Store, 'lock' | 'unlock'>;
  readonly clock: Clock;
  readonly member: string;
  readonly random: () => number;
  /** Has the end of the membership wait for something that never rejects. */
  readonly track: (releasing: Promise<unknown>) => void;
}

/** The caller of a lock. Neither callback throws. */
interface LockCaller {
  /** How long no command may follow, in ms. */
  readonly gap?: number;
  /** Called once if the lock is not available at once. */
  readonly onWait?: () => void;
  /** Why the caller has ended meanwhile, to complete "was not sent: "; undefined if it still waits. */
  readonly ended?: () => string | undefined;
}

/** Runs the commands of all processes to one device one at a time. Without a lock, nothing is sent. */
export class DeviceLocks {
  readonly #options: DeviceLocksOptions;
  readonly #held = new Map<string, { token: string; until: number }>();
  #tokens = 0;

  constructor(options: DeviceLocksOptions) {
    this.#options = options;
  }

  /**
   * Runs a command while it holds the device's lock.
   * @param longest the most milliseconds that it takes
   * @throws DeviceCloudError `UNREACHABLE` if it was not called, and whatever the command throws
   */
  async run<T>(
    chipid: string,
    longest: number,
    command: () => Promise<T>,
    caller: LockCaller = {},
  ): Promise<T> {
    const { member, clock, track } = this.#options;
    const { gap = 0 } = caller;
    const token = `${member}:${++this.#tokens}`;
    await this.#acquire(chipid, token, Math.ceil(longest + MARGIN), caller);
    const end = (): void => {
      if (this.#held.get(chipid)?.token === token) this.#held.delete(chipid);
      track(this.#release(chipid, token));
    };
    try {
      return await command();
    } finally {
      // Not awaited: the next lock of this process is requested after it.
      if (gap === 0) end();
      else clock.after(gap, end);
    }
  }

  /** Restores the held locks in a store that may have lost them. */
  restore(): void {
    const { store, clock } = this.#options;
    const now = clock.monotonic();
    for (const [chipid, { token, until }] of this.#held)
      if (until > now)
        store.lock(chipid, token, Math.ceil(until - now), true).catch(() => undefined);
  }

  async #acquire(
    chipid: string,
    token: string,
    ms: number,
    { onWait, ended }: LockCaller,
  ): Promise<void> {
    const { store, clock, random } = this.#options;
    const refused = (why: string): Error => notSent(deviceTitle(chipid), why);
    const began = clock.monotonic();
    for (let attempt = 0; ; attempt++) {
      const sent = clock.monotonic();
      const outcome = await store.lock(chipid, token, ms).catch((error: unknown) => error);
      const now = clock.monotonic();
      const why = ended?.();
      if (outcome === 'locked' && why === undefined && now - sent < MARGIN) {
        this.#held.set(chipid, { token, until: sent + ms });
        return;
      }
      // An attempt that took too long, or whose outcome is unknown, may have set the lock.
      if (outcome !== 'busy' && outcome !== 'unsettled') await this.#release(chipid, token);
      if (outcome instanceof Error)
        throw refused(`the cluster cannot be reached (${outcome.message})`);
      if (why !== undefined) throw refused(why);
      if (now - began >= PATIENCE)
        throw refused(
          outcome === 'unsettled'
            ? 'the store of the cluster has just been restarted, and the processes wait for each other'
            : "another process held the device's lock the whole time",
        );
      if (attempt === 0) onWait?.();
      const pause = backoff(attempt, PAUSE.shortest, PAUSE.longest, random, 0.5);
      await new Promise<void>((resolve) => void clock.after(pause, resolve));
    }
  }

  /** Releases a lock. If that fails, the lock expires. */
  #release(chipid: string, token: string): Promise<void> {
    return this.#options.store.unlock(chipid, token).catch(() => undefined);
  }
}
