const MEBIBYTE = 1024 * 1024;

/** An amount that several users share. */
export class Budget {
  used = 0;

  constructor(readonly limit: number) {}

  /** Reserves an amount. @returns false if too little is left; then nothing is reserved */
  reserve(amount: number): boolean {
    if (this.used + amount > this.limit) return false;
    this.used += amount;
    return true;
  }

  /** Returns an amount to the budget. */
  release(amount: number): void {
    this.used -= amount;
  }
}

/** What the recoveries of one application keep in memory, all devices together. */
export class Budgets {
  /** Bytes of live uploads that are held back. */
  readonly held = new Budget(64 * MEBIBYTE);
  /** Bytes of histories that have been read and wait for the channel to catch up. */
  readonly answers = new Budget(64 * MEBIBYTE);
  /** Arrivals that are remembered by their keys. */
  readonly arrived = new Budget(1_000_000);
}
