/** Readings in a row that fail before nothing is known of the devices any more. */
const FAILURES = 3;

/** Whether the list of online devices can be read. Each method returns whether that has changed. */
export class ListHealth {
  /** Whether the list failed too often in a row. */
  unknown = false;
  /** When the first failure in a row was, or the reading that ended them, in ms. */
  since: number | null = null;
  #failures = 0;

  read(at: number): boolean {
    this.#failures = 0;
    if (!this.unknown) return false;
    this.unknown = false;
    this.since = at;
    return true;
  }

  failed(at: number): boolean {
    if (this.unknown) return false;
    if (this.#failures === 0) this.since = at;
    this.unknown = ++this.#failures >= FAILURES;
    return this.unknown;
  }
}
