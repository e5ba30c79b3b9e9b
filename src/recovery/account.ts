const MEBIBYTE = 1024 * 1024;

/** Something of which many may take a part, and all together no more than there is. */
export class Account {
  used = 0;

  constructor(readonly limit: number) {}

  /** Takes a part. @returns false if it is not there; then nothing is taken */
  reserve(amount: number): boolean {
    if (this.used + amount > this.limit) return false;
    this.used += amount;
    return true;
  }

  /** Gives a part back. */
  release(amount: number): void {
    this.used -= amount;
  }
}

/** What the recoveries of one application keep in memory, all devices together. */
export class Accounts {
  /** Bytes of live uploads that are held back. */
  readonly held = new Account(64 * MEBIBYTE);
  /** Bytes of histories that have been read and wait for the channel to catch up. */
  readonly answers = new Account(64 * MEBIBYTE);
  /** Arrivals that are remembered by their keys. */
  readonly arrived = new Account(1_000_000);
}
