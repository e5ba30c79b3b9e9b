/** How much is remembered of one device, and what happens beyond. */
export interface Limits {
  /** Live uploads held back at most while the history is read; further ones are left to the history. */
  held: number;
  /** Bytes of them at most. */
  heldBytes: number;
  /** Arrivals remembered before the history is read to move the position on; more if it is deep. */
  arrived: number;
  /** With more than this, the history has been out of reach for too long to recover what was missed. */
  forgotten: number;
}

export const LIMITS: Limits = {
  held: 1000,
  heldBytes: 8 * 1024 * 1024,
  arrived: 500,
  forgotten: 10_000,
};

/** Milliseconds that live uploads are held back at most: a history that is down must not stop them. */
export const MAX_HOLD = 60_000;
/** Ambiguous first readings before one is accepted as it is. */
export const FIRST_TRIES = 8;
/** Invalid answers in a row after which live uploads no longer wait for a valid one. */
export const INVALID_TRIES = 2;

const RETRY_BASE = 500;
const RETRY_CAP = 30_000;
/** Well below {@link MAX_HOLD}: a history that comes back in time is found in time. */
const HOLDING_CAP = 10_000;
const FOLLOW_UP_BASE = 2000;
const FOLLOW_UP_CAP = 30_000;

/** Half fixed, half random: never at once, and never all together. */
const jittered = (attempt: number, base: number, cap: number, random: () => number): number =>
  Math.min(cap, base * 2 ** Math.min(attempt, 30)) * (0.5 + 0.5 * random());

/**
 * Milliseconds until a reading that failed is tried again.
 * @param holding whether live uploads wait for it
 */
export const retryDelay = (attempt: number, holding: boolean, random: () => number): number =>
  jittered(attempt, RETRY_BASE, holding ? HOLDING_CAP : RETRY_CAP, random);

/**
 * Milliseconds until the history is read again because something was left open, or came unreadable:
 * at least one second, doubling to thirty.
 */
export const followUpDelay = (attempt: number, random: () => number): number =>
  jittered(attempt, FOLLOW_UP_BASE, FOLLOW_UP_CAP, random);
