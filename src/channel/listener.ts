import { invalidInput } from '../errors';
import type { Upload } from '../types';
import { oneLine, show, thrownText } from '../util/show';
import { catchRejection } from '../protocol/values';

/**
 * The state of a channel. `disconnected` is a pause before the next attempt, never the end: only the
 * release of the last subscription, or the client's close, ends a channel.
 */
export type ChannelState = 'connecting' | 'connected' | 'disconnected';

/** Why a channel is not open in this process: another one of a cluster has the device. */
export const ELSEWHERE = 'ELSEWHERE';

/**
 * Listens on a channel. The same object may join several times, and each time counts as another
 * listener.
 *
 * An error that a callback throws, or with which the promise of an async one rejects, goes no further:
 * the channel, its other listeners and the process continue, and later uploads arrive. It is reported to
 * the listener's own `onFault`, once for each error; what `onFault` itself throws is dropped. A listener
 * without `onFault` causes a warning of the process (`process.on('warning')`), once. A
 * callback may join and release, and may close the client; after a release nothing is called.
 */
export interface ChannelListener {
  /** An upload has arrived, or has been recovered. */
  onUpload?(upload: Upload): void;
  /**
   * The channel has come up or gone down.
   * @param reason why a connection ended or could not be established; never with a URL in it
   */
  onState?(state: ChannelState, reason?: string): void;
  /**
   * A frame is not what section 6 describes, and was left out or corrected as the text says; or missed
   * uploads cannot be recovered for now; or a callback of this listener threw.
   * @param fault text for the log, without the uploaded data
   * @param kind the same for all faults of a kind, whatever ids and numbers the text contains; default: the text
   */
  onFault?(fault: string, kind?: string): void;
  /** A frame could not be read. It may have been an upload, which is then only in the history. */
  onGap?(): void;
}

/** A channel as its listeners see it. */
export interface ChannelView {
  /** Its state now. */
  readonly state: ChannelState;
  /**
   * Why the channel is not connected, if known: an HTTP status (`401`), a close code (`1001`), a
   * code of Node.js (`ECONNREFUSED`), or `SILENT`; or `HANDSHAKE`, if the
   * answer to the request for the connection did not open it.
   */
  readonly reason: string | undefined;
}

/**
 * Observes all channels of an application, with any listeners. It is this package's own code: it never
 * throws. Each is called before the listeners of the channel.
 */
export interface ChannelObserver {
  /** A channel has changed its state. @param reason as for a listener */
  onState(chipid: string, state: ChannelState, reason: string | undefined): void;
  /**
   * An upload has arrived live. Its bytes are the listener's, which may change them.
   * @param base64 the bytes in strict Base64
   */
  onLive(upload: Upload, base64: string): void;
  /** A channel was closed, since its last listener has left. */
  onClosed(chipid: string): void;
  /** Something was pushed over a channel. */
  onPush?(chipid: string, bytes: Buffer): void;
}

/** A listener's place on the channel of one device, to be released when it is no longer needed. */
export interface ChannelSubscription {
  /** The state of the channel now. */
  readonly channel: ChannelView;
  /** Leaves the channel, which closes after its last listener. May be called again. */
  release(): void;
}

/** A listener's place, as users have it: `using subscription = client.listen(…)` leaves the channel with the block. */
export class Subscription implements ChannelSubscription {
  readonly #joined: ChannelSubscription;

  constructor(joined: ChannelSubscription) {
    this.#joined = joined;
  }

  /** The state of the channel now. */
  get channel(): ChannelView {
    return this.#joined.channel;
  }

  /** Leaves the channel, which closes after its last listener. May be called again. */
  release(): void {
    this.#joined.release();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

const MAX_TEXT = 300;

/**
 * A user's {@link ChannelListener}, whose errors do not reach the caller of its callbacks. What a callback throws, or its
 * promise rejects with, is reported to the listener's own `onFault`; errors of `onFault` itself are dropped. A listener
 * without `onFault` causes a warning of the process, once.
 */
export class IsolatedListener implements ChannelListener {
  readonly #listener: ChannelListener;
  #isReleased = false;
  #hasWarned = false;

  /** @throws DeviceCloudError `INVALID_INPUT` if it is not an object */
  constructor(listener: ChannelListener) {
    if (typeof listener !== 'object' || (listener as unknown) === null) {
      throw invalidInput(
        `A listener must be an object with onUpload, onState or onFault, but is ${show(listener)}.`,
      );
    }
    this.#listener = listener;
  }

  /** Nothing is called from now on. */
  release(): void {
    this.#isReleased = true;
  }

  /** Written out, not by `#call`, which would allocate a function for each upload: there may be 100,000 a second. */
  onUpload(upload: Upload): void {
    if (this.#isReleased) return;
    try {
      const result: unknown = this.#listener.onUpload?.(upload);
      if (result !== undefined)
        catchRejection(result, (rejected) => this.#failed('onUpload', rejected));
    } catch (thrown) {
      this.#failed('onUpload', thrown);
    }
  }

  onState(state: ChannelState, reason?: string): void {
    this.#call('onState', () => this.#listener.onState?.(state, reason));
  }

  onFault(fault: string, kind?: string): void {
    this.#call('onFault', () => this.#listener.onFault?.(fault, kind));
  }

  onGap(): void {
    this.#call('onGap', () => this.#listener.onGap?.());
  }

  #call(name: keyof ChannelListener, callback: () => unknown): void {
    if (this.#isReleased) return;
    try {
      catchRejection(callback(), (rejected) => this.#failed(name, rejected));
    } catch (thrown) {
      this.#failed(name, thrown);
    }
  }

  #failed(name: keyof ChannelListener, thrown: unknown): void {
    // There is no other callback to which an error of `onFault` could be reported.
    if (name === 'onFault') return;
    const fault = `The listener's ${name} threw: ${oneLine(thrownText(thrown), MAX_TEXT)}.`;
    if (this.#listener.onFault) this.onFault(fault);
    else if (!this.#hasWarned) {
      this.#hasWarned = true;
      process.emitWarning(
        `${fault} Listen with an onFault to receive such errors.`,
        'DeviceCloudWarning',
      );
    }
  }
}
