import { Semaphore } from '../util/semaphore';

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

/** A place of a limiter, or the wait for one. */
export interface Place {
  /** Frees the place, or leaves the queue. Idempotent. */
  release(): void;
}

/**
 * Limits what runs side by side for one service, whichever application asks; the others wait in the order in which they
 * come. So the rate follows the service by itself, and thousands of channels do not overload it after a restart.
 */
export class ServiceLimiter {
  readonly #places: Semaphore;
  readonly #longest: number;
  readonly #random: () => number;
  readonly #now: () => number;
  #resumesAt = -Infinity;

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
    this.#places = new Semaphore(most);
    this.#longest = longest;
    this.#random = random;
    this.#now = now;
  }

  /**
   * Queues for a place.
   * @param granted is called once, never synchronously, and does not throw
   */
  acquire(granted: () => void): Place {
    let timer: NodeJS.Timeout | undefined;
    let leave: (() => void) | undefined;
    const release = (): void => {
      clearTimeout(timer);
      leave?.();
      leave = undefined;
    };
    // What has a place when the service asks for a pause waits in it: nobody else gets one meanwhile.
    const begin = (): void => {
      const wait = this.#resumesAt - this.#now();
      if (wait > 0) timer = setTimeout(begin, Math.ceil(wait));
      else {
        if (this.#longest < Infinity) timer = setTimeout(release, this.#longest);
        granted();
      }
    };
    const enter = (): void => {
      leave = () => this.#places.release();
      timer = setTimeout(begin, 0);
    };
    if (this.#places.acquire()) enter();
    else leave = this.#places.wait(enter);
    return { release };
  }

  /** Grants no place for a while. @param wait milliseconds for which the service asks, by `Retry-After` */
  pause(wait: number): void {
    const until = this.#now() + wait * (1 + JITTER * this.#random());
    this.#resumesAt = Math.max(this.#resumesAt, until);
  }
}

/** The limits of one service. */
export interface ServiceLimits {
  readonly handshakes: ServiceLimiter;
  readonly readings: ServiceLimiter;
}

/** The limits of each service, which its clients share: a slow service delays no other. They outlive a client, and so a deploy. */
export class AllServiceLimits {
  readonly #limits = new Map<string, ServiceLimits>();

  /** @param origin the address of the service */
  of(origin: string): ServiceLimits {
    const limits = this.#limits.get(origin) ?? {
      handshakes: new ServiceLimiter(HANDSHAKES, LONGEST_HANDSHAKE),
      readings: new ServiceLimiter(READINGS),
    };
    this.#limits.set(origin, limits);
    return limits;
  }
}
