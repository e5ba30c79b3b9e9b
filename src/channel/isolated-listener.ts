import type { ChannelState, ChannelListener } from './types';
import { invalidInput } from '../errors';
import { oneLine, show } from '../util/show';
import { catchRejection, thrownText } from '../util/thrown';
import type { Upload } from '../types';

const MAX_TEXT = 300;
/** Milliseconds between two warnings for one listener. */
const WARN_EVERY = 60_000;

/** A thrown value as one line of text. */
const textOf = (thrown: unknown): string => oneLine(thrownText(thrown), MAX_TEXT);

const ignore = (): void => undefined;

/**
 * A {@link ChannelListener} whose errors do not reach the caller of its callbacks. What a callback or the getter of a
 * callback throws, or its promise rejects with, is reported to the listener's own `onFault`; errors of `onFault` itself
 * are dropped. A listener without `onFault` causes a warning of the process, at most one a minute.
 */
export class IsolatedListener {
  readonly #listener: ChannelListener;
  #released = false;
  #warnedAt: number | undefined;

  /** @throws DeviceCloudError `INVALID_INPUT` if it is not an object */
  constructor(listener: ChannelListener) {
    if (typeof listener !== 'object' || (listener as unknown) === null) {
      throw invalidInput(
        `A listener must be an object with onUpload, onState or onFault, but is ${show(listener)}.`,
      );
    }
    this.#listener = listener;
  }

  /** Whether it has a callback for uploads. */
  get hasUploadCallback(): boolean {
    return !this.#released && this.#has('onUpload');
  }

  /** Nothing is called from now on. */
  release(): void {
    this.#released = true;
  }

  /** Written out, not by `#call`, which would allocate two functions for each upload, of which there may be 100,000 a second. */
  onUpload(upload: Upload): void {
    if (this.#released) return;
    try {
      const result: unknown = this.#listener.onUpload?.(upload);
      if (result === undefined) return;
      catchRejection(result, (rejected) => this.#failed('onUpload', rejected));
    } catch (thrown) {
      this.#failed('onUpload', thrown);
    }
  }

  onState(state: ChannelState, reason: string | undefined): void {
    this.#call('onState', () => this.#listener.onState?.(state, reason));
  }

  onFault(fault: string, kind?: string): void {
    // There is no other callback to which an error of `onFault` could be reported.
    this.#run(() => this.#listener.onFault?.(fault, kind), ignore);
  }

  onGap(): void {
    this.#call('onGap', () => this.#listener.onGap?.());
  }

  /** Reads the property only, which runs code of the listener if it is a getter. */
  #has(name: 'onUpload' | 'onFault'): boolean {
    try {
      return this.#listener[name] !== undefined;
    } catch (thrown) {
      // An error of the getter of `onFault` cannot be reported to `onFault`.
      if (name === 'onUpload') this.#failed(name, thrown);
      return false;
    }
  }

  #call(name: string, callback: () => unknown): void {
    this.#run(callback, (thrown) => this.#failed(name, thrown));
  }

  #failed(name: string, thrown: unknown): void {
    this.#report(`the listener's ${name} threw: ${textOf(thrown)}`);
  }

  #run(callback: () => unknown, failed: (thrown: unknown) => void): void {
    if (this.#released) return;
    try {
      catchRejection(callback(), failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  #report(fault: string): void {
    if (this.#has('onFault')) this.onFault(fault);
    else if (performance.now() - (this.#warnedAt ?? -Infinity) >= WARN_EVERY) {
      this.#warnedAt = performance.now();
      process.emitWarning(
        `${fault}. Listen with an onFault to receive such errors.`,
        'DeviceCloudWarning',
      );
    }
  }
}
