import type { ChannelState } from '../../channel/listener';

/** One device of a watch, as its events have it. There are up to 10,000. Methods return whether that has changed. */
export class WatchedDevice {
  /** Null until a reading or an upload has shown it. */
  online: boolean | null = null;
  /** Since when that is so, as far as is known: ms by this machine's clock. */
  since: number | null = null;
  /** Readings in a row that lack the device. */
  misses = 0;
  /** When its last live upload arrived. */
  lastUpload: number | null = null;
  /** Its name before the last start, until a list shows it again. */
  name: string | null = null;
  /** No live upload has come for long enough while its channel was connected. */
  isSilent = false;
  /** Whether its channel is connected, without the short breaks; null until it was, or could not be for long enough. */
  connected: boolean | null = null;
  /** Why its channel is down, if known. */
  reason: string | undefined = undefined;
  /** Since when the channel is down; undefined if it is not, or has been for long enough. By a clock that is never set, as are the others. */
  downSince: number | undefined = undefined;
  /** Whether this watch has emitted its state since the start. */
  isPresenceEmitted = false;
  isChannelEmitted = false;
  /** When the first reading in a row that lacks it began. */
  #absentSince = 0;
  /** Milliseconds without an upload on earlier connections, and since when on this one; undefined while the channel is down. */
  #quiet = 0;
  #quietSince: number | undefined = undefined;

  constructor(readonly chipid: string) {}

  /** It was in a reading that began at `at`, or has uploaded then. */
  shown(at: number): boolean {
    this.misses = 0;
    return this.#setOnline(true, at);
  }

  /**
   * A reading lacks it.
   * @param began when the reading began
   * @param most how many such readings in a row make it offline
   */
  absent(began: number, most: number): boolean {
    if (this.online === false) return false;
    if (this.misses++ === 0) this.#absentSince = began;
    // Nothing says that it has been online.
    if (this.online === null) return this.#setOnline(false, began);
    return this.misses >= most && this.#setOnline(false, this.#absentSince);
  }

  /** It has uploaded. @returns whether it was silent until then */
  heard(now: number): boolean {
    this.#quiet = 0;
    this.#quietSince = now;
    const wasSilent = this.isSilent;
    this.isSilent = false;
    return wasSilent;
  }

  /** For how long, all in all, its channel has been connected without an upload; 0 while the channel is down. */
  quietFor(now: number): number {
    return this.#quietSince === undefined ? 0 : this.#quiet + Math.max(0, now - this.#quietSince);
  }

  /**
   * Its channel has changed. One that has not been tried, because many others are, is not down; one that was closed on purpose
   * stays as it was.
   * @param state null if it was closed
   */
  channel(state: ChannelState | null, reason: string | undefined, now: number): void {
    if (state === 'connected') this.#quietSince ??= now;
    else if (this.#quietSince !== undefined) {
      this.#quiet = this.quietFor(now);
      this.#quietSince = undefined;
    }
    if (state === 'disconnected') {
      this.reason = reason;
      if (this.connected !== false) this.downSince ??= now;
    } else if (state !== 'connecting') this.downSince = undefined;
  }

  #setOnline(online: boolean, since: number): boolean {
    if (this.online === online) return false;
    this.since = since;
    this.online = online;
    return true;
  }
}
