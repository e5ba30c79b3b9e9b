/** Marks in what a peer sends: one is passed when everything that was sent before it has arrived. */
export interface Fences {
  /** @param passed is called once: when the peer has answered, or its connection has ended */
  add(passed: () => void): void;
  /** A frame of any kind has come. */
  heard(): void;
  /** @param data what the ping of the fence carried */
  pong(data: string): void;
  /** The connection has ended: nothing more arrives. */
  end(): void;
}

interface Fence {
  number: number;
  passed: () => void;
}

/** Milliseconds a peer has for its pong before it is asked whether it answers pings at all. */
const PATIENCE = 5000;

/**
 * Fences of one channel, as pings. A peer that falls silent passes none: it may be a network that
 * stalls, and what it holds back would come twice. Its connection ends when it stays silent.
 * @param ping sends a ping with data
 * @param watched whether silence ends the connection; if not, a pong is not waited for very long
 */
export function createFences(ping: (data: string) => void, watched: boolean): Fences {
  let waiting: Fence[] = [];
  let last = 0;
  let timer: NodeJS.Timeout | undefined;
  let round = 0;
  let heard = false;

  const watch = (): void => {
    round = 0;
    timer = setTimeout(look, PATIENCE);
  };
  /** Frames that come without the pong, long after the ping: this peer answers none. */
  function look(): void {
    if (!watched || (round > 0 && heard)) pass(last);
    else {
      round++;
      heard = false;
      timer = setTimeout(look, PATIENCE);
    }
  }
  /** A peer may answer only the last of several pings: its pong passes the ones before, too. */
  function pass(upTo: number): void {
    const passed = waiting.filter(({ number }) => number <= upTo);
    waiting = waiting.filter(({ number }) => number > upTo);
    clearTimeout(timer);
    if (waiting.length > 0) watch();
    for (const fence of passed) fence.passed();
  }

  return {
    add(passed) {
      waiting.push({ number: ++last, passed });
      if (waiting.length === 1) watch();
      ping(String(last));
    },
    heard() {
      heard = true;
    },
    pong(data) {
      if (waiting.length > 0 && /^\d+$/.test(data)) pass(Number(data));
    },
    end: () => pass(last),
  };
}
