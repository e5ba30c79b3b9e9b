import { readInput } from '../input/values';

interface Listening {
  callbacks: Set<() => void>;
  abort: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

function listen(signal: AbortSignal): Listening {
  const callbacks = new Set<() => void>();
  const abort = (): void => {
    for (const callback of callbacks) callback();
  };
  readInput('signal', () => signal.addEventListener('abort', abort, { once: true }));
  const listener = { callbacks, abort };
  listening.set(signal, listener);
  return listener;
}

const NO_REASON = 'the caller aborted it';
const CLOSED = 'the client was closed';

/**
 * Why a signal aborted, for an error. The reason is the caller's and may be any value: one that throws
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
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, abort } = listening.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    listening.delete(signal);
    try {
      signal.removeEventListener('abort', abort);
    } catch {
      // A signal that is not of Node.js: the call goes on, and the listener does nothing.
    }
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

/** The deadline of one call: one timer for all its stages, waiting for a connection included. */
export interface Deadline {
  /** Seconds the call may take. */
  readonly seconds: number;
  readonly ended: CallAborted | undefined;
  /** Sets the one listener for the end, in place of that of the stage before. Called at once if it has ended. */
  listen(listener: EndListener | undefined): void;
  /** Removes the timer and the listeners. Called when the call is over. */
  clear(): void;
}

/** The longest time a Node.js timer can hold, in seconds. */
export const MAX_SECONDS = 2_147_483;

/** The deadlines of all calls of one client, so that closing it can end them. */
export interface Deadlines {
  /**
   * Starts the clock of a call.
   * @param seconds how long the call may take, all its stages together
   * @param signal ends the call early
   * @param extension decides when the time is over whether it starts again
   */
  start(seconds: number, signal?: AbortSignal, extension?: Extension): Deadline;
  /** Ends every running call, and each later one when it starts. */
  close(): void;
}

const onTimeout = (deadline: RunningDeadline): void => deadline.timeout();

/** A class with plain fields, since there is one for each call. */
class RunningDeadline implements Deadline {
  ended: CallAborted | undefined;
  private listener: EndListener | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly ignoreSignal: (() => void) | undefined;

  constructor(
    readonly seconds: number,
    signal: AbortSignal | undefined,
    private readonly all: Set<RunningDeadline>,
    explain: (signal: AbortSignal) => string,
    private readonly extension: Extension | undefined,
  ) {
    this.ignoreSignal = signal && onAbort(signal, () => this.end('aborted', explain(signal)));
    this.startTimer();
    all.add(this);
    if (signal?.aborted) this.end('aborted', explain(signal));
  }

  listen(listener: EndListener | undefined): void {
    if (this.ended) listener?.(this.ended);
    else this.listener = listener;
  }

  clear(): void {
    clearTimeout(this.timer);
    this.listener = undefined;
    this.all.delete(this);
    this.ignoreSignal?.();
  }

  private startTimer(): void {
    this.timer = setTimeout(onTimeout, Math.min(this.seconds, MAX_SECONDS) * 1000, this);
  }

  timeout(): void {
    const isExtended = this.extension?.() ?? false;
    if (isExtended === true) this.startTimer();
    else this.end('timeout', isExtended || undefined);
  }

  end(reason: CallAborted['reason'], detail?: string): void {
    if (this.ended) return;
    this.ended = new CallAborted(reason, detail);
    const { listener } = this;
    this.listener = undefined;
    listener?.(this.ended);
  }
}

/** @param explain why a signal aborted, without secrets */
export function createDeadlines(explain = abortReason): Deadlines {
  const running = new Set<RunningDeadline>();
  let closed = false;

  return {
    start(seconds, signal, extension) {
      const deadline = new RunningDeadline(seconds, signal, running, explain, extension);
      if (closed) deadline.end('aborted', CLOSED);
      return deadline;
    },
    close() {
      closed = true;
      for (const deadline of running) deadline.end('aborted', CLOSED);
    },
  };
}
