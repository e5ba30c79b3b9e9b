/** What became of the channels since the last reset. */
export interface Connects {
  open: number;
  /** Channels that were opened. */
  opened: number;
  /** Channels that ended. */
  ended: number;
  /** Seconds from the first to the last opening. */
  seconds: number;
  /** The most that were opened within a second. */
  peak: number;
}

/** Counts channels. */
export function countConnects() {
  let open = 0;
  let ended = 0;
  let times: number[] = [];

  const peak = (): number => {
    let most = 0;
    let from = 0;
    times.forEach((time, index) => {
      while ((times[from] ?? time) <= time - 1000) from++;
      most = Math.max(most, index - from + 1);
    });
    return most;
  };

  return {
    opened() {
      open++;
      times.push(performance.now());
    },
    ended() {
      open--;
      ended++;
    },
    reset() {
      ended = 0;
      times = [];
    },
    read: (): Connects => ({
      open,
      opened: times.length,
      ended,
      seconds: ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000,
      peak: peak(),
    }),
  };
}
