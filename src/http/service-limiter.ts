/** Handshakes of channels, and readings of histories, that run side by side for one service. */
const HANDSHAKES = 32;
const READINGS = 16;

/**
 * A handshake frees its place after this many milliseconds although it is not answered yet: a service that never answers the
 * upgrades of some devices must not keep the others waiting.
 */
const LONGEST_HANDSHAKE = 5000;

/** The most by which a wait is longer than the service asks for, so that clients come back spread out. */
const JITTER = 0.5;

/** How many services are remembered. With more at a time, their clients would not share the limits. */
const MOST_SERVICES = 100;

/** A place of a limiter, or the wait for one. */
export interface Place {
  /** Frees the place, or leaves the queue. Idempotent. */
  release(): void;
}

class QueuedPlace implements Place {
  readonly #limiter: ServiceLimiter;
  readonly #granted: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(limiter: ServiceLimiter, granted: () => void) {
    this.#limiter = limiter;
    this.#granted = granted;
  }

  /** @param longest milliseconds after which the place is free again */
  grant(longest: number): void {
    if (longest < Infinity) this.#timer = setTimeout(() => this.release(), longest);
    this.#granted();
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#limiter.release(this);
  }
}

/**
 * Limits what runs side by side for one service, whichever application asks; the others wait in the order in which they
 * come. So the rate follows the service by itself, and thousands of channels do not overload it after a restart.
 */
export class ServiceLimiter {
  readonly #most: number;
  readonly #longest: number;
  readonly #random: () => number;
  readonly #now: () => number;
  /** Sets keep the order, and delete from their middle in constant time. */
  readonly #waiting = new Set<QueuedPlace>();
  readonly #running = new Set<QueuedPlace>();
  #resumesAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param most places
   * @param longest milliseconds that one is held at most
   * @param now milliseconds from any point on
   */
  constructor(
    most: number,
    longest = Infinity,
    random = Math.random,
    now = (): number => performance.now(),
  ) {
    this.#most = most;
    this.#longest = longest;
    this.#random = random;
    this.#now = now;
  }

  /**
   * Queues for a place.
   * @param granted is called once, never synchronously, and does not throw
   */
  acquire(granted: () => void): Place {
    const place = new QueuedPlace(this, granted);
    this.#waiting.add(place);
    this.#schedule();
    return place;
  }

  release(place: QueuedPlace): void {
    this.#waiting.delete(place);
    this.#running.delete(place);
    this.#schedule();
  }

  /** Grants no place for a while. @param wait milliseconds for which the service asks, by `Retry-After` */
  pause(wait: number): void {
    const until = this.#now() + wait * (1 + JITTER * this.#random());
    this.#resumesAt = Math.max(this.#resumesAt, until);
  }

  #schedule(): void {
    if (this.#waiting.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } else if (this.#running.size < this.#most) {
      const wait = Math.max(0, Math.ceil(this.#resumesAt - this.#now()));
      this.#timer ??= setTimeout(() => this.#grant(), wait);
    }
  }

  #grant(): void {
    this.#timer = undefined;
    // A service may have asked for more time meanwhile.
    if (this.#resumesAt <= this.#now())
      for (const place of this.#waiting) {
        if (this.#running.size >= this.#most) return;
        this.#waiting.delete(place);
        this.#running.add(place);
        place.grant(this.#longest);
      }
    this.#schedule();
  }
}

/** The limits of one service. */
export interface ServiceLimits {
  readonly handshakes: ServiceLimiter;
  readonly readings: ServiceLimiter;
}

/** The limits of each service, which its clients share: a slow service delays no other. */
export class AllServiceLimits {
  readonly #limits = new Map<string, ServiceLimits>();

  /** @param origin the address of the service; its limits outlive its clients, and so a deploy */
  of(origin: string): ServiceLimits {
    const limits = this.#limits.get(origin) ?? {
      handshakes: new ServiceLimiter(HANDSHAKES, LONGEST_HANDSHAKE),
      readings: new ServiceLimiter(READINGS),
    };
    // The least recently used one is the first, and is dropped first.
    this.#limits.delete(origin);
    this.#limits.set(origin, limits);
    const [oldest = origin] = this.#limits.keys();
    if (this.#limits.size > MOST_SERVICES) this.#limits.delete(oldest);
    return limits;
  }
}
