import { readInput } from '../input/readable';

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
    signal.removeEventListener('abort', abort);
    listening.delete(signal);
  };
}

/** Why a call ended before its answer. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted';
  constructor(
    readonly reason: 'timeout' | 'aborted',
    /** The reason of the abort, with its source. */
    readonly detail?: string,
  ) {
    super(reason);
  }
}

/** The deadline of one call: one timer for all its stages, waiting for a connection included. */
export interface Deadline {
  /** Seconds the call may take. */
  readonly seconds: number;
  readonly ended: CallAborted | undefined;
  /** Sets the one callback for the end, in place of that of the stage before. Called at once if it has ended. */
  listen(listener: ((end: CallAborted) => void) | undefined): void;
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
   */
  start(seconds: number, signal?: AbortSignal): Deadline;
  /** Ends every running call, and each later one when it starts. */
  close(): void;
}

/** @param explain why a signal aborted, without secrets */
export function createDeadlines(explain = abortReason): Deadlines {
  const running = new Set<() => void>();
  let closed = false;

  return {
    start(seconds, signal) {
      let listener: ((end: CallAborted) => void) | undefined;

      const end = (reason: CallAborted['reason'], detail?: string): void => {
        if (deadline.ended) return;
        deadline.ended = new CallAborted(reason, detail);
        const callback = listener;
        listener = undefined;
        callback?.(deadline.ended);
      };
      const abort = (): void =>
        end('aborted', signal?.aborted ? explain(signal) : 'the client was closed');
      const ignore = signal && onAbort(signal, abort);
      const timer = setTimeout(end, Math.min(seconds, MAX_SECONDS) * 1000, 'timeout');

      // No accessors: there are many deadlines, and an object with accessors is slow and large.
      const deadline: Deadline & { ended: CallAborted | undefined } = {
        seconds,
        ended: undefined,
        listen(next) {
          listener = next;
          if (deadline.ended && next) {
            listener = undefined;
            next(deadline.ended);
          }
        },
        clear() {
          clearTimeout(timer);
          listener = undefined;
          running.delete(abort);
          ignore?.();
        },
      };
      if (closed || signal?.aborted) abort();
      running.add(abort);
      return deadline;
    },
    close() {
      closed = true;
      for (const abort of running) abort();
    },
  };
}
