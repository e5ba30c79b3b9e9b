import { backoff } from '../util/backoff';

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
  /** Bytes of records that are kept while histories are read, and until the channel has caught up. */
  readonly answers = new Budget(64 * MEBIBYTE);
  /** Arrivals that are remembered by their keys. */
  readonly arrived = new Budget(1_000_000);
}

/** Limits of what is remembered of one device. */
export interface Limits {
  /** The most live uploads that are held back while the history is read; beyond that, they are left to the history. */
  held: number;
  /** The most bytes of them. */
  heldBytes: number;
  /** How many arrivals are remembered before the history is read to advance the position; more if it is long. */
  arrived: number;
  /** More arrivals than this mean that the history has been unavailable for too long to recover what was missed. */
  forgotten: number;
}

export const LIMITS: Limits = {
  held: 1000,
  heldBytes: 8 * 1024 * 1024,
  arrived: 500,
  forgotten: 10_000,
};

/** The longest time for which live uploads are held back, in ms: they must not stop while the history is down. */
export const MAX_HOLD = 60_000;
/** How many first readings may be ambiguous before one is accepted nevertheless. */
export const FIRST_TRIES = 8;
/** After this many failed readings in a row, live uploads no longer wait for the history of a device. */
export const FAILED_TRIES = 5;
/** After this many invalid answers: the next one is unlikely to be better. */
export const INVALID_TRIES = 2;

const RETRY_BASE = 500;
const RETRY_CAP = 30_000;
/** Well below {@link MAX_HOLD}, so that a history that recovers in time is noticed in time. */
const HOLDING_CAP = 10_000;
const FOLLOW_UP_BASE = 2000;
const FOLLOW_UP_CAP = 30_000;

/** Half fixed, half random, so that devices neither retry at once nor all together. */
const FIXED = 0.5;

/**
 * Milliseconds until a failed reading is retried.
 * @param holding whether live uploads wait for it
 */
export const retryDelay = (attempt: number, holding: boolean, random: () => number): number =>
  backoff(attempt, RETRY_BASE, holding ? HOLDING_CAP : RETRY_CAP, random, FIXED);

/**
 * Milliseconds until the history is read again because something was left open or was unreadable: one to two
 * seconds at first, doubling up to thirty.
 */
export const followUpDelay = (attempt: number, random: () => number): number =>
  backoff(attempt, FOLLOW_UP_BASE, FOLLOW_UP_CAP, random, FIXED);
