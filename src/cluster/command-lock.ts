import type { CommandLock } from '../commands/lock';
import { CALLING, notSent } from '../commands/outcome';
import type { CallProgress } from '../types';
import { backoff } from '../util/backoff';
import type { Clock } from './clock';
import type { Store } from './store';

/** Pauses between two attempts to lock, in ms: short at first, since most commands take no longer than one answer. */
const PAUSE = { shortest: 20, longest: 250 };

/** How much longer than its call a lock lasts, in ms: setting and ending it takes time as well. */
const MARGIN = 3000;

/** How long a command waits for the commands of other processes, in ms: long enough for several without an answer. */
const PATIENCE = 60_000;

const AWAITING: CallProgress = { state: 'awaiting-cluster' };

export interface DeviceLocksOptions {
  readonly store: Pick<Store, 'lock' | 'unlock'>;
  readonly clock: Clock;
  readonly member: string;
  readonly random: () => number;
}

export interface LockTimes {
  /** The longest time that the call takes, in ms. */
  readonly call: number;
  /** How long to wait for another process's command, in ms. */
  readonly patience: number;
  /** How long no command may follow, in ms; default 0. */
  readonly gap?: number;
}

/** The caller of a lock. Neither callback throws. */
export interface LockCaller {
  /** Called once if the lock is not available at once. */
  readonly onWait?: () => void;
  /** Why the caller has ended meanwhile, to complete "was not sent: "; undefined if it still waits. */
  readonly ended?: () => string | undefined;
}

/** Runs the commands of all processes to one device one at a time. Without a lock, nothing is sent. */
export class DeviceLocks {
  readonly #options: DeviceLocksOptions;
  readonly #held = new Map<string, { token: string; until: number }>();
  /** Locks that are being ended. */
  readonly #releasing = new Set<Promise<void>>();
  #tokens = 0;

  constructor(options: DeviceLocksOptions) {
    this.#options = options;
  }

  /**
   * Runs a call while it holds the device's lock.
   * @throws DeviceCloudError `UNREACHABLE` if it was not called, and whatever the call throws
   */
  async run<T>(
    chipid: string,
    times: LockTimes,
    call: () => Promise<T>,
    caller: LockCaller = {},
  ): Promise<T> {
    const token = `${this.#options.member}:${++this.#tokens}`;
    await this.#acquire(chipid, token, times, caller);
    try {
      return await call();
    } finally {
      const { gap = 0 } = times;
      // Not awaited: the next lock of this process is requested after it.
      if (gap === 0) this.#end(chipid, token);
      else this.#options.clock.after(gap, () => this.#end(chipid, token));
    }
  }

  /** Resolves when the locks of all ended commands are released. */
  async settled(): Promise<void> {
    await Promise.all(this.#releasing);
  }

  /** Restores the held locks in a store that may have lost them. */
  async restore(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.monotonic();
    const locks = [...this.#held].filter(([, { until }]) => until > now);
    const restored = locks.map(([chipid, { token, until }]) =>
      store.lock(chipid, token, Math.ceil(until - now), true).catch(() => undefined),
    );
    await Promise.all(restored);
  }

  async #acquire(
    chipid: string,
    token: string,
    times: LockTimes,
    { onWait, ended }: LockCaller,
  ): Promise<void> {
    const { store, clock, random } = this.#options;
    const began = clock.monotonic();
    const ms = Math.ceil(times.call + MARGIN);
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
        throw notSent(chipid, `the cluster cannot be reached (${outcome.message})`);
      if (why !== undefined) throw notSent(chipid, why);
      if (now - began >= times.patience)
        throw notSent(
          chipid,
          outcome === 'unsettled'
            ? 'the store of the cluster has just been restarted, and the processes wait for each other'
            : "another process held the device's lock the whole time",
        );
      if (attempt === 0) onWait?.();
      const pause = backoff(attempt, PAUSE.shortest, PAUSE.longest, random, 0.5);
      await new Promise<void>((resolve) => void clock.after(pause, resolve));
    }
  }

  #end(chipid: string, token: string): void {
    if (this.#held.get(chipid)?.token === token) this.#held.delete(chipid);
    const releasing = this.#release(chipid, token);
    this.#releasing.add(releasing);
    void releasing.then(() => this.#releasing.delete(releasing));
  }

  /** Releases a lock. If that fails, the lock expires. */
  async #release(chipid: string, token: string): Promise<void> {
    await this.#options.store.unlock(chipid, token).catch(() => undefined);
  }
}

/**
 * The commands of a client, one at a time per device in all processes.
 * @param gap milliseconds between two commands to one device
 * @param explain why a signal aborted, without secrets
 */
export function commandLock(
  withLock: DeviceLocks['run'],
  gap: number,
  explain: (signal: AbortSignal) => string,
): { readonly run: CommandLock; readonly close: () => void } {
  let isClosed = false;
  return {
    run: (chipid, longest, { signal, progress }, command) => {
      let hasWaited = false;
      const call = (): ReturnType<typeof command> => {
        if (hasWaited) progress?.(CALLING);
        return command();
      };
      return withLock(chipid, { call: longest, patience: PATIENCE, gap }, call, {
        onWait() {
          hasWaited = true;
          progress?.(AWAITING);
        },
        ended: () => {
          if (isClosed) return 'the client was closed';
          return signal?.aborted ? explain(signal) : undefined;
        },
      });
    },
    /** Ends the waiting commands. */
    close() {
      isClosed = true;
    },
  };
}
