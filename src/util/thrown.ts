import { oneLine } from './show';

/** A thrown value as text; anything can be thrown, even values without a text. */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'a value without a text';
  }
}

/**
 * Calls back if what a callback returned rejects: a promise, or anything with a `then`. The types of
 * callbacks say void, which an async function satisfies: its rejection would end the process.
 */
export function catchRejection(result: unknown, failed: (thrown: unknown) => void): void {
  // Nearly all return nothing, and there is a call for each upload.
  if ((typeof result !== 'object' || result === null) && typeof result !== 'function') return;
  void Promise.resolve(result).then(undefined, failed);
}

const MAX_TEXT = 300;

const warn = (thrown: unknown): void =>
  process.emitWarning(
    `A callback threw: ${oneLine(thrownText(thrown), MAX_TEXT)}.`,
    'DeviceCloudWarning',
  );

/** Calls a user's callback; what it throws, or its promise rejects with, becomes a warning of the process. */
export function isolated(callback: () => unknown): void {
  try {
    catchRejection(callback(), warn);
  } catch (thrown) {
    warn(thrown);
  }
}
