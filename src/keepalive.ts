/** What {@link watchLiveness} does to a connection. */
export interface Watched {
  ping(): void;
  /** The peer has been silent for too long. */
  dead(): void;
}

export interface Liveness {
  /** A frame of any kind has come. */
  alive(): void;
  stop(): void;
}

/** Pings that may go unanswered. */
const MISSES = 2;

/**
 * Finds a peer that is silent though its connection looks open: a ping every period, with jitter so
 * that many channels do not ping in step. Found within three periods.
 * @param seconds the period; 0 turns it off
 */
export function watchLiveness(watched: Watched, seconds: number, random: () => number): Liveness {
  let heard = true;
  let missed = 0;
  let timer: NodeJS.Timeout | undefined;

  const tick = (): void => {
    missed = heard ? 0 : missed + 1;
    heard = false;
    if (missed >= MISSES) {
      timer = undefined;
      watched.dead();
      return;
    }
    watched.ping();
    timer = setTimeout(tick, seconds * 1000 * (0.9 + 0.1 * random()));
  };

  if (seconds > 0) timer = setTimeout(tick, seconds * 1000 * random());
  return {
    alive() {
      heard = true;
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
