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
  signal.addEventListener('abort', abort, { once: true });
  const listener = { callbacks, abort };
  listening.set(signal, listener);
  return listener;
}

/** Why a signal aborted, for an error. The reason is the caller's, and may be any value at all. */
export function abortReason({ reason }: AbortSignal): string {
  const given: unknown = reason instanceof Error ? reason.message : reason;
  const isUsual = reason instanceof Error && reason.name === 'AbortError';
  return isUsual || typeof given !== 'string' || given === '' ? 'the caller aborted it' : given;
}

/**
 * Calls back when a signal aborts. Calls that share a signal share one listener on it, since to add
 * and remove one costs as much as a call's timer, and Node.js warns of more than a few.
 * @returns takes the callback back; the listener goes with the last one
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
