/**
 * Whether one device is online, by the latest evidence. A list counts from the moment of its request; a live upload and the
 * end of a call count from now. The service answers a call only if the device does, and about 10 seconds without an answer
 * mean that the device is offline (section 4.2). Everything that needs to know whether a device is online asks here. Times
 * are Unix times in ms by this machine's clock.
 */
export class Presence {
  /** Whether the latest list of online devices has it; null before the first. */
  listed: boolean | null = null;
  #online: boolean | null = null;
  #since: number | null = null;
  /** When an upload or a call was the evidence; -Infinity if a list was. */
  #at = -Infinity;
  /** Uploads are the only evidence, and no list was read: nothing would ever show that the device no longer uploads. */
  #isHeardOnly = false;

  /** Null without evidence. */
  get online(): boolean | null {
    return this.#isHeardOnly ? null : this.#online;
  }

  /** Since when {@link online} is as it is; null if that is unknown. */
  get since(): number | null {
    return this.#isHeardOnly ? null : this.#since;
  }

  /** It has uploaded. @param isListRead whether a list has been read */
  uploaded(at: number, isListRead: boolean): void {
    if (this.#online === null) this.#isHeardOnly = !isListRead;
    this.#show(true, at);
    this.#at = at;
  }

  /** A call to it has ended: answered, or not answered by the device; null if the service could not be reached. */
  called(online: boolean | null, at: number): void {
    this.#isHeardOnly = false;
    this.#show(online, at);
    this.#at = at;
  }

  /**
   * The latest list has been read. Evidence from after its request is newer.
   * @param at when it was requested @param now evidence from a later time is from before the clock was set back
   * @returns whether anything has changed
   */
  read(listed: boolean, at: number, now: number): boolean {
    const { since, listed: was } = this;
    this.listed = listed;
    this.#isHeardOnly = false;
    if (at > this.#at || this.#at > now) {
      this.#show(listed, at);
      this.#at = -Infinity;
    }
    return was !== listed || since !== this.since;
  }

  #show(online: boolean | null, at: number): void {
    if (this.#online !== online) this.#since = at;
    this.#online = online;
  }
}
