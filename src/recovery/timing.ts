import { backoff } from '../util/backoff';

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
/** After this many invalid answers in a row, live uploads no longer wait for a valid one. */
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
