import { performance } from 'node:perf_hooks';
import { AdaptiveLimiter, CONNECTS, type PaceClock } from './adaptive-limiter';

/** How many limiters are kept. With more services at a time, their clients would not share them. */
const MOST = 100;

const CLOCK: PaceClock = {
  now: () => performance.now(),
  idle: () => performance.eventLoopUtilization().idle,
  random: Math.random,
};

/** One limiter for each service, shared by its clients: a slow service delays no other. */
export class AdaptiveLimiters {
  private readonly limiters = new Map<string, AdaptiveLimiter>();

  constructor(private readonly clock: PaceClock = CLOCK) {}

  /**
   * @param origin the address of the service; a limiter of it outlives its clients, and so a deploy
   * @param paced what is limited; the same with each call for an address
   */
  of(origin: string, paced = CONNECTS): AdaptiveLimiter {
    const limiter = this.limiters.get(origin) ?? new AdaptiveLimiter(this.clock, paced);
    // The least recently used one is the first, and is dropped first.
    this.limiters.delete(origin);
    this.limiters.set(origin, limiter);
    for (const [oldest] of this.limiters) {
      if (this.limiters.size <= MOST) break;
      this.limiters.delete(oldest);
    }
    return limiter;
  }
}
