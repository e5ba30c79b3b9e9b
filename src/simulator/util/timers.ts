/** All timers of one simulator, so that close() can clear them. */
export interface Timers {
  /** Runs once after `ms`. @returns a function that cancels it */
  after(ms: number, run: () => void): () => void;
  /** Runs every `ms`, the first time after `first`. @returns a function that cancels it */
  every(ms: number, first: number, run: () => void): () => void;
  /** Clears every timer and sets no further one. */
  close(): void;
}

export function createTimers(): Timers {
  const running = new Set<NodeJS.Timeout>();
  let closed = false;

  const after = (ms: number, run: () => void): (() => void) => {
    if (closed) return () => undefined;
    const timer = setTimeout(() => {
      running.delete(timer);
      run();
    }, ms);
    running.add(timer);
    return () => {
      clearTimeout(timer);
      running.delete(timer);
    };
  };

  return {
    after,
    every(ms, first, run) {
      const tick = (): void => {
        cancel = after(ms, tick);
        run();
      };
      let cancel = after(first, tick);
      return () => cancel();
    },
    close() {
      closed = true;
      for (const timer of running) clearTimeout(timer);
      running.clear();
    },
  };
}
