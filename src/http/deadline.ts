import { MAX_TIMEOUT } from '../input/values';

/** What can be an item of a {@link LinkedList}, of one at a time. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

/**
 * Items in the order in which they were added, each of which can be removed at once. A `Set` that tens of thousands of
 * short-lived items pass through costs far more: in V8, each of its tables, once full, holds on to the items in it and to
 * the next table, and so moves them to the old generation. With pushes, a `Set` took 7 % more CPU (4 to 10, in pairs).
 */
export class LinkedList<T extends Linked<T>> {
  size = 0;
  #first: T | undefined;
  #last: T | undefined;

  /** The item that was added first. */
  get first(): T | undefined {
    return this.#first;
  }

  /** @param item that is in no list */
  add(item: T): void {
    item.previous = this.#last;
    if (this.#last) this.#last.next = item;
    else this.#first = item;
    this.#last = item;
    this.size++;
  }

  /** @returns false if it is not in the list */
  remove(item: T): boolean {
    const { previous, next } = item;
    if (!previous && this.#first !== item) return false;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    item.previous = item.next = undefined;
    this.size--;
    return true;
  }

  /** All of them now: any may be removed meanwhile. */
  all(): T[] {
    const items: T[] = [];
    for (let item = this.#first; item; item = item.next) items.push(item);
    return items;
  }
}

interface Callback extends Linked<Callback> {
  /** Undefined once it is removed. */
  call: (() => void) | undefined;
}

interface Listening {
  callbacks: LinkedList<Callback>;
  abort: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

function listen(signal: AbortSignal): Listening {
  const callbacks = new LinkedList<Callback>();
  const abort = (): void => {
    for (const callback of callbacks.all()) callback.call?.();
  };
  signal.addEventListener('abort', abort, { once: true });
  const listener = { callbacks, abort };
  listening.set(signal, listener);
  return listener;
}

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

/**
 * Calls back when a signal aborts. Calls that share a signal share one listener on it, since to add
 * and remove one costs as much as a call's timer, and Node.js warns of more than a few.
 * @returns a function that removes the callback, and with the last one the listener
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const { callbacks, abort } = listening.get(signal) ?? listen(signal);
  const callback: Callback = { call, previous: undefined, next: undefined };
  callbacks.add(callback);
  return () => {
    callback.call = undefined;
    if (!callbacks.remove(callback) || callbacks.size > 0) return;
    listening.delete(signal);
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
export class Deadline implements Linked<Deadline> {
  previous: Deadline | undefined;
  next: Deadline | undefined;
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
  readonly #running = new LinkedList<Deadline>();
  readonly #explain: (signal: AbortSignal) => string;
  #isClosed = false;
  readonly #over = (deadline: Deadline): void => {
    if (this.#running.remove(deadline)) deadline.ignoreSignal?.();
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

  /** Ends every running call, and each later one when it starts. */
  close(): void {
    this.#isClosed = true;
    for (const deadline of this.#running.all()) deadline.end('aborted', CLOSED);
  }
}
