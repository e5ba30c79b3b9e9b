import { isPromise } from 'node:util/types';

/** A thrown value as text; anything can be thrown, even values without a text. */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'a value without a text';
  }
}

/** Attaches a handler with the method of the class, since a promise may have own properties of the same name. */
const attach = (promise: Promise<unknown>, failed: (thrown: unknown) => void): void =>
  void Promise.prototype.then.call(promise, undefined, failed);

/** Calls back if a promise rejects. `then` reads its `constructor`, which may throw. */
function catchPromise(promise: Promise<unknown>, failed: (thrown: unknown) => void): void {
  try {
    attach(promise, failed);
  } catch {
    // There is no way to handle it without its constructor: await, Promise.resolve and all else in
    // JavaScript and Node.js read it, too. If it cannot be redefined, this throws.
    void Object.defineProperty(promise, 'constructor', { value: Promise });
    attach(promise, failed);
  }
}

/**
 * Calls back if what a callback returned rejects: a promise, or anything with a `then`. The types of
 * callbacks say void, which an async function satisfies: its rejection would end the process.
 * @throws whatever reading a promise with odd properties throws
 */
export function catchRejection(result: unknown, failed: (thrown: unknown) => void): void {
  // Nearly all return nothing, and there is a call for each upload.
  if ((typeof result !== 'object' || result === null) && typeof result !== 'function') return;
  if (isPromise(result)) catchPromise(result, failed);
  else new Promise((resolve) => resolve(result)).catch(failed);
}
