import type { Timed, TimerQueue } from '../../channel/timer-queue';
import type { ChannelState } from '../../channel/types';

/** What all settled channels of a watch share. */
export interface SettledShared {
  readonly timers: TimerQueue;
  /** Milliseconds that a channel must be down before it counts as disconnected. */
  readonly settle: number;
  /** The state has changed. @param was null if this is the first one */
  onSettled(channel: SettledChannel, was: boolean | null): void;
}

/**
 * Whether the channel of one device is connected, without the short breaks. A channel that has not been
 * tried, because many others are, is not down; one that was closed on purpose stays as it was.
 */
export class SettledChannel implements Timed {
  due = 0;
  index = -1;
  /** Null until the first attempt has succeeded, or has failed for long enough. */
  connected: boolean | null = null;
  /** Why it is down, if known. */
  reason: string | undefined = undefined;

  constructor(
    readonly chipid: string,
    private readonly shared: SettledShared,
  ) {}

  /** @param state null if the channel was closed */
  change(state: ChannelState | null, reason: string | undefined): void {
    const { timers, settle } = this.shared;
    if (state === null) {
      timers.remove(this);
    } else if (state === 'connected') {
      timers.remove(this);
      this.reason = undefined;
      this.#setState(true);
    } else if (state === 'disconnected') {
      this.reason = reason;
      if (this.connected !== false && this.index < 0) timers.set(this, timers.now() + settle);
    }
  }

  close(): void {
    this.shared.timers.remove(this);
  }

  onDue(): void {
    this.#setState(false);
  }

  #setState(connected: boolean): void {
    const was = this.connected;
    if (was === connected) return;
    this.connected = connected;
    this.shared.onSettled(this, was);
  }
}
