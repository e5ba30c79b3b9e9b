import { MAX_TIMEOUT } from '../protocol/values';

const NO_REASON = 'the caller aborted it';
/** Completes "Not sent: " and the like. */
export const CLOSED = 'the client was closed';

/**
 * Why a signal aborted, for an error. The reason is the caller's and may be any value: a value that throws
 * when it is read would end the process, since this runs in a listener of the signal.
 */
export function abortReason(signal: AbortSignal): string {
  try {
    const reason: unknown = signal.reason;
    const given: unknown = reason instanceof Error ? reason.message : reason;
    const isUsual = reason instanceof Error && reason.name === 'AbortError';
    return isUsual || typeof given !== 'string' || given === '' ? NO_REASON : given;
  } catch {
    return NO_REASON;
  }
}

interface Shared {
  readonly callbacks: Set<() => void>;
  readonly abort: () => void;
}

const shared = new WeakMap<AbortSignal, Shared>();

function share(signal: AbortSignal): Shared {
  const callbacks = new Set<() => void>();
  const abort = (): void => {
    for (const callback of callbacks) callback();
  };
  signal.addEventListener('abort', abort, { once: true });
  const listener = { callbacks, abort };
  shared.set(signal, listener);
  return listener;
}

/**
 * Calls back when a signal aborts. Calls that share a signal share one listener on it: for each that is added, a signal looks at
 * all that it has, and a call to 10,000 devices has one signal.
 * @returns a function that removes the callback, and with the last one the listener
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const { callbacks, abort } = shared.get(signal) ?? share(signal);
  // The same function may be passed more than once.
  const callback = (): void => call();
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    shared.delete(signal);
    signal.removeEventListener('abort', abort);
  };
}

/** Why a call ended before its answer. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted';
  constructor(
    readonly reason: 'timeout' | 'aborted',
    /** The reason of the abort, with its source, or what came too late. */
    readonly detail?: string,
  ) {
    super(reason);
  }
}

/**
 * Is called when the time of a call is over. Returns whether it may take as long again; a text says why not.
 */
export type Extension = () => boolean | string;

/** Is called when a call ends before its answer. */
export type EndListener = (end: CallAborted) => void;

const onTimeout = (deadline: Deadline): void => deadline.expire();

/** The deadline of one call: one timer for all its stages, waiting for a connection included. */
export class Deadline {
  /** Why it has ended. */
  ended: CallAborted | undefined;
  /** Stops listening to the signal of the call. */
  ignoreSignal: (() => void) | undefined;
  #listener: EndListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #extension: Extension | undefined;
  /** Called when the call is over. */
  readonly #over: (deadline: Deadline) => void;

  /** @param timeout milliseconds that the call may take */
  constructor(
    readonly timeout: number,
    extension: Extension | undefined,
    over: (deadline: Deadline) => void,
  ) {
    this.#extension = extension;
    this.#over = over;
    this.#startTimer();
  }

  /** Sets the one listener for the end, in place of the listener of the stage before. Called at once if it has ended. */
  listen(listener: EndListener | undefined): void {
    if (this.ended) listener?.(this.ended);
    else this.#listener = listener;
  }

  /** Removes the timer and the listeners. Called when the call is over. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#listener = undefined;
    this.#over(this);
  }

  expire(): void {
    const isExtended = this.#extension?.() ?? false;
    if (isExtended === true) this.#startTimer();
    else this.end('timeout', isExtended || undefined);
  }

  end(reason: CallAborted['reason'], detail?: string): void {
    if (this.ended) return;
    this.ended = new CallAborted(reason, detail);
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.(this.ended);
  }

  #startTimer(): void {
    this.#timer = setTimeout(onTimeout, Math.min(this.timeout, MAX_TIMEOUT), this);
  }
}

/** The deadlines of all calls of one client, so that closing it can end them. */
export class Deadlines {
  readonly #running = new Set<Deadline>();
  readonly #explain: (signal: AbortSignal) => string;
  #isClosed = false;
  readonly #over = (deadline: Deadline): void => {
    if (this.#running.delete(deadline)) deadline.ignoreSignal?.();
  };

  /** @param explain why a signal aborted, without secrets */
  constructor(explain = abortReason) {
    this.#explain = explain;
  }

  /**
   * Starts the clock of a call.
   * @param timeout milliseconds that the call may take, all its stages together
   * @param signal ends the call early
   * @param extension decides when the time is over whether it starts again
   */
  start(timeout: number, signal?: AbortSignal, extension?: Extension): Deadline {
    const deadline = new Deadline(timeout, extension, this.#over);
    deadline.ignoreSignal =
      signal && onAbort(signal, () => deadline.end('aborted', this.#explain(signal)));
    this.#running.add(deadline);
    if (signal?.aborted) deadline.end('aborted', this.#explain(signal));
    if (this.#isClosed) deadline.end('aborted', CLOSED);
    return deadline;
  }

  /** Does something within a deadline, as {@link start} starts it. */
  async run<T>(
    work: (deadline: Deadline) => Promise<T>,
    ...limits: Parameters<Deadlines['start']>
  ): Promise<T> {
    const deadline = this.start(...limits);
    try {
      return await work(deadline);
    } finally {
      deadline.clear();
    }
  }

  /** Ends every running call, and each later one when it starts. */
  close(): void {
    this.#isClosed = true;
    for (const deadline of this.#running) deadline.end('aborted', CLOSED);
  }
}
