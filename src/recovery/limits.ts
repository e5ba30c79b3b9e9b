const MEBIBYTE = 1024 * 1024;

/** Limits of what is remembered of one device. */
export const LIMITS = {
  /** The most live uploads that are held back, and the most bytes of them (rule 15). */
  held: 1000,
  heldBytes: 8 * MEBIBYTE,
  /** After how many arrivals the history is read (rule 11): of one that is short, and of any other. */
  least: 5,
  short: 500,
  long: 2000,
  /** About how many arrivals all devices together may remember: if there are many devices, their histories are read earlier. */
  arrivals: 1_000_000,
  /** The most bytes of an answer that counts as a short history. */
  small: 64 * 1024,
  /** More arrivals than this mean that the history has been unavailable for too long (rule 16). */
  forgotten: 10_000,
  /** How many old records in a row end an answer that begins with the newest (rule 22). */
  margin: 200,
};

export class Budget {
  used = 0;

  constructor(readonly limit: number) {}

  /** Reserves an amount. @returns false if too little is left; then nothing is reserved */
  reserve(amount: number): boolean {
    if (this.used + amount > this.limit) return false;
    this.used += amount;
    return true;
  }

  release(amount: number): void {
    this.used -= amount;
  }
}

/** What the recoveries of one application keep in memory, all devices together. */
export class Budgets {
  /** Bytes of live uploads that are held back. */
  readonly held = new Budget(64 * MEBIBYTE);
  /** Bytes of records that are kept while histories are read, and until they are emitted. */
  readonly answers = new Budget(64 * MEBIBYTE);
}
