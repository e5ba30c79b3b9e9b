import type { ChannelListener, ChannelSubscription, ChannelView } from './channel/listener';
import { DeviceCloudError, invalidInput } from './errors';
import { onAbort } from './http/deadline';
import { parseSignal, readInput } from './input/values';
import type { RecoverOptions } from './recovery/options';
import type { Position } from './recovery/position';
import type { Upload } from './types';
import { show } from './util/show';

/** A listener's place on the channel of a device: `using subscription = client.listen(…)` leaves it with the block. */
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

/** The options of a loop over the uploads of a device: see `subscribe` of the client. */
export interface SubscribeOptions extends Omit<ChannelListener, 'onUpload'> {
  /** Recovers the uploads that the channel missed while it was down: `true`, or how. Default: live ones only. */
  recover?: boolean | Omit<RecoverOptions, 'saveLater'>;
  /** Ends the loop. */
  signal?: AbortSignal;
  /** How many uploads may wait for the loop, default 10,000; one more ends it with `QUEUE_FULL`. */
  maxUploads?: number;
  /** How many bytes of them, default 16 MiB. */
  maxBytes?: number;
}

/** {@link SubscribeOptions}, checked and complete. Each of the signals ends the loop. */
type StreamSettings = Omit<ReturnType<typeof readSubscribe>, 'recover' | 'callbacks'>;

/** Joins the channel of the device for the loop. */
type Join = (
  onUpload: (upload: Upload) => void,
  save: (position: Position) => void,
) => ChannelSubscription;

interface Waiting {
  readonly upload: Upload;
  /** Saved once the upload was handled. */
  position: Position | undefined;
}

type Result = IteratorResult<Upload, undefined>;
const DONE: Result = { done: true, value: undefined };

/**
 * The uploads of a device, for one loop. They wait for it within limits. An upload counts as handled when the next one is
 * asked for; only then the position after it is saved.
 */
export class UploadStream implements AsyncIterableIterator<Upload, undefined> {
  readonly #chipid: string;
  readonly #settings: StreamSettings;
  readonly #joined: ChannelSubscription;
  readonly #ignoreSignals: (() => void)[] = [];
  #waiting: Waiting[] = [];
  #bytes = 0;
  /** What the loop has, and has not handled yet. */
  #given: Waiting | undefined;
  /** Loops that wait for an upload: one, unless `next` is called by hand. */
  readonly #asking: ((result: Result) => void)[] = [];
  #isOver = false;
  #error: DeviceCloudError | undefined;

  constructor(chipid: string, settings: StreamSettings, join: Join) {
    this.#chipid = chipid;
    this.#settings = settings;
    this.#joined = join(
      (upload) => this.#onUpload(upload),
      (position) => this.#onPosition(position),
    );
    try {
      for (const signal of settings.signals) {
        if (signal.aborted) this.release();
        if (this.#isOver) break;
        this.#ignoreSignals.push(onAbort(signal, () => this.release()));
      }
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** The state of the channel now. */
  get channel(): ChannelView {
    return this.#joined.channel;
  }

  /** Ends the loop, and leaves the channel. What waits is dropped. May be called again. */
  release(): void {
    this.#waiting = [];
    this.#error = undefined;
    this.#end();
  }

  /** The next upload. @throws DeviceCloudError `QUEUE_FULL`; what the option `save` throws */
  async next(): Promise<Result> {
    await this.#handled();
    const next = this.#waiting.shift();
    if (next) {
      this.#given = next;
      this.#bytes -= next.upload.body.length;
      return { done: false, value: next.upload };
    }
    const error = this.#error;
    this.#error = undefined;
    if (error) throw error;
    if (this.#isOver) return DONE;
    return new Promise((resolve) => void this.#asking.push(resolve));
  }

  /** The loop was left. */
  return(): Promise<Result> {
    this.release();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** Saves the position after what the loop has handled. */
  async #handled(): Promise<void> {
    const given = this.#given;
    try {
      // Meanwhile a further position may come.
      while (given?.position) {
        const { position } = given;
        given.position = undefined;
        await this.#settings.save?.(position);
      }
    } catch (error) {
      this.release();
      throw error;
    }
    this.#given = undefined;
  }

  #onUpload(upload: Upload): void {
    const waiting = { upload, position: undefined };
    const ask = this.#asking.shift();
    if (ask) {
      this.#given = waiting;
      ask({ done: false, value: upload });
      return;
    }
    const { maxUploads, maxBytes } = this.#settings;
    const { length } = upload.body;
    const isFull = this.#waiting.length >= maxUploads || this.#bytes + length > maxBytes;
    if (isFull && this.#waiting.length > 0) {
      this.#error = full(this.#chipid, this.#waiting.length, this.#bytes);
      this.#end();
      return;
    }
    this.#waiting.push(waiting);
    this.#bytes += length;
  }

  #onPosition(position: Position): unknown {
    const last = this.#waiting.at(-1) ?? this.#given;
    if (!last) return this.#settings.save?.(position);
    last.position = position;
    return undefined;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const ignore of this.#ignoreSignals) ignore();
    this.#joined.release();
    for (const ask of this.#asking.splice(0)) ask(DONE);
  }
}

const full = (chipid: string, uploads: number, bytes: number): DeviceCloudError =>
  new DeviceCloudError(
    'QUEUE_FULL',
    `${uploads} uploads of ${bytes} bytes wait, and one more did not fit. The loop over the uploads of device ${chipid} has ended. ` +
      'What came since was not given to it. With recovery, subscribe again from the position that was saved last; ' +
      'maxUploads and maxBytes set how much may wait.',
  );

/**
 * Reads each option once: recovery uses them for as long as it runs.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readRecovery(options: RecoverOptions | undefined): RecoverOptions | undefined {
  if (!options) return undefined;
  return readInput('options object for recovery', () => {
    const { zone, start, save, saveLater } = options;
    return {
      ...{ zone, start },
      ...(save && { save: (position) => save.call(options, position) }),
      ...(saveLater && { saveLater: (position) => saveLater.call(options, position) }),
    };
  });
}

/** How many uploads may wait for a loop, and how many bytes, unless its caller says otherwise. */
const WAITING = { maxUploads: 10_000, maxBytes: 16 * 1024 * 1024 };

/**
 * Reads the options of a loop over uploads.
 * @param closing ends it with the client
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readSubscribe(options: SubscribeOptions | undefined, closing: AbortSignal) {
  return readInput('options object', () => {
    const { recover, signal, onState, onFault, onGap, ...limits } = options ?? {};
    const { maxUploads, maxBytes } = { ...WAITING, ...limits };
    for (const [name, value] of Object.entries({ maxUploads, maxBytes }))
      if (!Number.isInteger(value) || value < 1)
        throw invalidInput(`${name} must be a whole number from 1, but is ${show(value)}.`);
    const read = readRecovery(recover === true ? {} : recover || undefined);
    if (read?.saveLater)
      throw invalidInput('A loop saves what it has handled: use save instead of saveLater.');
    const given = parseSignal(signal);
    const callbacks: ChannelListener = {
      ...(onState && { onState: onState.bind(options) }),
      ...(onFault && { onFault: onFault.bind(options) }),
      ...(onGap && { onGap: onGap.bind(options) }),
    };
    const signals = given ? [closing, given] : [closing];
    return { recover: read, callbacks, maxUploads, maxBytes, signals, save: read?.save };
  });
}
