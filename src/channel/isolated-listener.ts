import type { ChannelState, ChannelListener } from './types';
import { invalidInput } from '../errors';
import { oneLine, show } from '../util/show';
import type { Upload } from './frames';

const MAX_TEXT = 300;
/** Milliseconds between two warnings for one user. */
const WARN_EVERY = 60_000;

/** What was thrown, in one line; anything can be thrown, even what cannot be made text. */
function textOf(thrown: unknown): string {
  try {
    return oneLine(String(thrown), MAX_TEXT);
  } catch {
    return 'a value without a text';
  }
}

/**
 * A {@link ChannelListener} whose callbacks cannot hurt who calls them. What one throws, or what the promise
 * that it returns rejects with, is passed to the user's own `onFault`, and what that one throws is
 * dropped. A user without `onFault` gets a warning of the process, at most one a minute.
 */
export class IsolatedListener {
  readonly #user: ChannelListener;
  #released = false;
  #warnedAt = -Infinity;

  /** @throws DeviceCloudError `INVALID_INPUT` if it is no object */
  constructor(user: ChannelListener) {
    if (typeof user !== 'object' || (user as unknown) === null) {
      throw invalidInput(
        `A listener must be an object with onUpload, onState or onFault, but is ${show(user)}.`,
      );
    }
    this.#user = user;
  }

  /** Whether uploads have to be passed to it. */
  get takesUploads(): boolean {
    return !this.#released && this.#user.onUpload !== undefined;
  }

  /** Nothing is called from now on. */
  release(): void {
    this.#released = true;
  }

  onUpload(upload: Upload): void {
    this.#call('onUpload', () => this.#user.onUpload?.(upload));
  }

  onState(state: ChannelState, reason: string | undefined): void {
    this.#call('onState', () => this.#user.onState?.(state, reason));
  }

  onFault(fault: string, kind?: string): void {
    // A fault about `onFault` has nowhere to go.
    this.#run(() => this.#user.onFault?.(fault, kind), () => undefined); // prettier-ignore
  }

  onGap(): void {
    this.#call('onGap', () => this.#user.onGap?.());
  }

  #call(name: string, callback: () => unknown): void {
    this.#run(callback, (thrown) =>
      this.#report(`the listener's ${name} threw: ${textOf(thrown)}`),
    );
  }

  #run(callback: () => unknown, failed: (thrown: unknown) => void): void {
    if (this.#released) return;
    try {
      const result = callback();
      // The types say void, which an async function satisfies: its rejection would end the process.
      if (typeof result === 'object' && result !== null) Promise.resolve(result).catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  #report(fault: string): void {
    if (this.#user.onFault) this.onFault(fault);
    else if (performance.now() - this.#warnedAt >= WARN_EVERY) {
      this.#warnedAt = performance.now();
      process.emitWarning(`${fault}. Give it an onFault to be told.`, 'DeviceCloudWarning');
    }
  }
}
