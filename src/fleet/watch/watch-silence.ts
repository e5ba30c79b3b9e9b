import type { Timed, TimerQueue } from '../../channel/timer-queue';

/** What all silences of a watch share. */
export interface SilenceShared {
  /** The clock is the queue's: a change of this machine's time is no silence. */
  readonly timers: TimerQueue;
  /** Milliseconds without a live upload; 0: a device is never silent. */
  readonly limit: number;
  onSilent(silence: Silence): void;
}

/**
 * Whether one device is silent: its channel was connected for long enough, all in all, since its last live
 * upload. An upload only notes its time. The timer, when its time has come, works out what is left.
 */
export class Silence implements Timed {
  due = 0;
  index = -1;
  silent = false;
  /** Milliseconds without an upload on earlier connections. */
  #earlier = 0;
  /** Since when there has been no upload on this connection; undefined while the channel is down. */
  #since: number | undefined;

  constructor(
    readonly chipid: string,
    private readonly shared: SilenceShared,
  ) {}

  /** The channel is connected. */
  connected(): void {
    if (this.shared.limit === 0 || this.#since !== undefined) return;
    this.#since = this.shared.timers.now();
    this.#arm();
  }

  /** The channel is down, or closed. */
  down(): void {
    if (this.#since === undefined) return;
    this.#earlier = this.#silence();
    this.#since = undefined;
    this.shared.timers.remove(this);
  }

  /** It may have uploaded unnoticed, to another process: the time counts from now on. */
  restart(): void {
    this.#earlier = 0;
    if (this.#since === undefined) return;
    this.#since = this.shared.timers.now();
    if (this.index < 0) this.#arm();
  }

  /** A live upload arrived. @returns whether the device was silent until then */
  heard(): boolean {
    if (this.shared.limit === 0) return false;
    this.#earlier = 0;
    this.#since = this.shared.timers.now();
    const wasSilent = this.silent;
    this.silent = false;
    if (this.index < 0) this.#arm();
    return wasSilent;
  }

  close(): void {
    this.shared.timers.remove(this);
  }

  onDue(): void {
    if (this.#silence() < this.shared.limit) {
      this.#arm();
      return;
    }
    this.silent = true;
    this.shared.onSilent(this);
  }

  #silence(): number {
    if (this.#since === undefined) return this.#earlier;
    return this.#earlier + Math.max(0, this.shared.timers.now() - this.#since);
  }

  #arm(): void {
    const { timers, limit } = this.shared;
    if (!this.silent) timers.set(this, timers.now() + limit - this.#silence());
  }
}
