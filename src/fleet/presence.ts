/**
 * Whether one device is online: by what showed it last. The list shows it as of the moment when it was asked for, a live
 * upload as of now, and so does a call: the service answers it only if the device does, and about 10 seconds without an
 * answer mean that the device is offline (section 4.2). All who ask whether a device is online ask here. Times are Unix
 * times in ms by this machine's clock.
 */
export class Presence {
  /** Whether the latest list of online devices has it; null before the first. */
  listed: boolean | null = null;
  /** Since when {@link isOnline} is as it is; null if that is unknown. */
  since: number | null = null;
  #online: boolean | null = null;
  /** When an upload or a call showed that; -Infinity if a list did. */
  #at = -Infinity;
  /** Nothing but uploads has shown it. */
  #isHeardOnly = false;

  /**
   * @param isListRead whether a list has been read: without one, nothing would ever show that a device no longer uploads
   * @returns null if nothing shows it
   */
  isOnline(isListRead: boolean): boolean | null {
    return this.#isHeardOnly && !isListRead ? null : this.#online;
  }

  /** It has uploaded. */
  uploaded(at: number): void {
    if (this.#online === null) this.#isHeardOnly = true;
    this.#show(true, at);
    this.#at = at;
  }

  /** The service has answered a call to it, or has said that it does not answer; null if neither arrived. */
  called(online: boolean | null, at: number): void {
    this.#isHeardOnly = false;
    this.#show(online, at);
    this.#at = at;
  }

  /**
   * A list has been read, the latest one so far. What was shown after it was asked for is newer.
   * @param at when it was asked for @param now a later time is of a clock that was set back since
   * @returns whether anything has changed
   */
  read(listed: boolean, at: number, now: number): boolean {
    const { since, listed: was } = this;
    const wasHeardOnly = this.#isHeardOnly;
    this.listed = listed;
    if (at > this.#at || this.#at > now) {
      this.#isHeardOnly = false;
      this.#show(listed, at);
      this.#at = -Infinity;
    }
    return was !== listed || since !== this.since || wasHeardOnly !== this.#isHeardOnly;
  }

  #show(online: boolean | null, at: number): void {
    if (this.#online !== online) this.since = at;
    this.#online = online;
  }
}
