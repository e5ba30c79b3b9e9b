/** Readings of one history: one at a time, at once or later. */
export interface Reading {
  /** Whether one is under way. */
  running(): boolean;
  /** Whether one is under way or put off. */
  due(): boolean;
  /** Begins now, in place of one that is under way or put off. */
  start(attempt?: number): void;
  /** Begins in so many milliseconds. */
  later(delay: number, attempt?: number): void;
  /** Breaks off what is under way or put off. */
  stop(): void;
  /** The same, and none begins any more. */
  end(): void;
}

/** @param read one reading, which never fails and changes nothing once its signal has ended it */
export function createReading(
  read: (signal: AbortSignal, attempt: number) => Promise<void>,
): Reading {
  let running: AbortController | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const stop = (): void => {
    cancel();
    running?.abort();
    running = undefined;
  };
  const start = (attempt = 0): void => {
    stop();
    if (ended) return;
    const abort = new AbortController();
    running = abort;
    const over = (): void => {
      if (running === abort) running = undefined;
    };
    read(abort.signal, attempt).then(over, over);
  };

  return {
    running: () => running !== undefined,
    due: () => running !== undefined || timer !== undefined,
    start,
    later(delay, attempt) {
      cancel();
      if (!ended) timer = setTimeout(start, delay, attempt);
    },
    stop,
    end() {
      ended = true;
      stop();
    },
  };
}
