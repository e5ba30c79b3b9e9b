import { DeviceCloudError } from '../errors';
import type { Clock } from './clock';
import type { Store } from './store';

/** Pauses between two attempts to lock, in ms: short ones first, since most commands take as long as one answer. */
const PAUSE = { shortest: 20, longest: 250 };

/** What a lock lasts longer than the call for which it is taken, in ms: the lock's own way to the store and back. */
const MARGIN = 3000;

export interface CommandLockOptions {
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
}

/** Keeps the commands of all processes to one device apart. What cannot be locked is not sent. */
export class CommandLock {
  private readonly held = new Map<string, { token: string; until: number }>();
  private tokens = 0;

  constructor(private readonly options: CommandLockOptions) {}

  /**
   * Runs a call while nobody else has the device's lock.
   * @throws DeviceCloudError `UNREACHABLE` if it was not called, and whatever the call throws
   */
  async run<T>(chipid: string, times: LockTimes, call: () => Promise<T>): Promise<T> {
    const token = `${this.options.member}:${++this.tokens}`;
    await this.acquire(chipid, token, times);
    try {
      return await call();
    } finally {
      this.held.delete(chipid);
      await this.release(chipid, token);
    }
  }

  /** Puts the locks that are held back into a store that may have lost them. */
  async putBack(): Promise<void> {
    const { store, clock } = this.options;
    const now = clock.monotonic();
    const locks = [...this.held].filter(([, { until }]) => until > now);
    const again = locks.map(([chipid, { token, until }]) =>
      store.lock(chipid, token, Math.ceil(until - now), true).catch(() => undefined),
    );
    await Promise.all(again);
  }

  private async acquire(chipid: string, token: string, times: LockTimes): Promise<void> {
    const { store, clock } = this.options;
    const began = clock.monotonic();
    const ms = Math.ceil(times.call + MARGIN);
    for (let attempt = 0; ; attempt++) {
      const sent = clock.monotonic();
      const outcome = await store.lock(chipid, token, ms).catch((error: unknown) => error);
      const now = clock.monotonic();
      if (outcome === 'locked' && now - sent < MARGIN) {
        this.held.set(chipid, { token, until: sent + ms });
        return;
      }
      // An attempt that took too long, or whose outcome is unknown, may have locked.
      if (outcome !== 'busy' && outcome !== 'unsettled') await this.release(chipid, token);
      if (outcome instanceof Error)
        throw notSent(chipid, `the cluster cannot be reached (${outcome.message})`);
      if (now - began >= times.patience)
        throw notSent(
          chipid,
          outcome === 'unsettled'
            ? 'the store of the cluster has just been restarted, and the processes wait for each other'
            : 'another process has been sending to it all the time',
        );
      await this.pause(attempt);
    }
  }

  private pause(attempt: number): Promise<void> {
    const { clock, random } = this.options;
    const limit = Math.min(PAUSE.longest, PAUSE.shortest * 2 ** Math.min(attempt, 10));
    return new Promise((resolve) => void clock.after(limit * (1 + random()) * 0.5, resolve));
  }

  /** A lock that cannot be ended ends by itself. */
  private async release(chipid: string, token: string): Promise<void> {
    await this.options.store.unlock(chipid, token).catch(() => undefined);
  }
}

const notSent = (chipid: string, why: string): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', `The command to device ${chipid} was not sent: ${why}.`);
