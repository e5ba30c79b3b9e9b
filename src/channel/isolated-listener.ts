import type { ChannelState, ChannelListener } from './types';
import { invalidInput } from '../errors';
import { oneLine, show } from '../util/show';
import { catchRejection, thrownText } from '../util/thrown';
import type { Upload } from '../types';

const MAX_TEXT = 300;
/** Milliseconds between two warnings for one listener. */
const WARN_EVERY = 60_000;

/** What was thrown, in one line. */
const textOf = (thrown: unknown): string => oneLine(thrownText(thrown), MAX_TEXT);

const ignore = (): void => undefined;

/**
 * A {@link ChannelListener} whose callbacks cannot hurt their caller. What one throws, or what the
 * promise that it returns rejects with, is passed to the listener's own `onFault`; what that throws is
 * dropped. So is what the getter of a callback throws. A listener without `onFault` causes a warning of
 * the process, at most one a minute.
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

  /** Whether uploads have to be passed to it. */
  get hasUploadCallback(): boolean {
    return !this.#released && this.#has('onUpload');
  }

  /** Nothing is called from now on. */
  release(): void {
    this.#released = true;
  }

  /** As the others, without the functions that they make for each call: there may be 100,000 uploads a second. */
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
    // An error of `onFault` has nowhere to go.
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
      // Not for `onFault` itself, to which the report would go.
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
