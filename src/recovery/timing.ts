import { backoff } from '../backoff';

/** How much is remembered, and what happens beyond. */
export interface Limits {
  /** Live uploads held back at most while the history is read; further ones are left to the history. */
  held: number;
  /** Arrivals remembered at most; then the history is read to move the position on. */
  arrived: number;
  /** With so many, the history has been out of reach for too long, and what was missed can't be told. */
  forgotten: number;
}

export const LIMITS: Limits = { held: 1000, arrived: 500, forgotten: 10_000 };

/** Milliseconds to wait for the channel before the history is read for the first time. */
export const FIRST_READ = 5000;
/** Milliseconds live uploads are held back at most: a history that is down must not stop them for good. */
export const MAX_HOLD = 60_000;
/** First readings that may be ambiguous before one is taken for good all the same. */
export const FIRST_TRIES = 8;

const RETRY_BASE = 500;
const RETRY_CAP = 30_000;
/** Well below {@link MAX_HOLD}: a history that comes back in time is found in time. */
const HOLDING_CAP = 10_000;
const FOLLOW_UP_BASE = 2000;
const FOLLOW_UP_CAP = 30_000;

/**
 * Milliseconds until a reading that failed is tried again.
 * @param holding whether live uploads wait for it
 */
export const retryDelay = (attempt: number, holding: boolean, random: () => number): number =>
  RETRY_BASE / 2 + backoff(attempt, RETRY_BASE, holding ? HOLDING_CAP : RETRY_CAP, random);

/** Milliseconds until the history is looked at again that matched in more than one way. */
export const followUpDelay = (attempt: number, random: () => number): number =>
  FOLLOW_UP_BASE / 2 + backoff(attempt, FOLLOW_UP_BASE, FOLLOW_UP_CAP, random);
