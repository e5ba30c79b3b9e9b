/** The header has whole seconds, rounded down: half a second is the best estimate of the rest. */
const HALF_SECOND = 500;

/** Remembers the latest `Date` header, for the difference between the clocks. */
export interface ServiceClock {
  saw(date: string): void;
  /** Seconds that the service is ahead; undefined before the first answer. */
  skew(): number | undefined;
}

export function createServiceClock(now: () => number): ServiceClock {
  let latest = '';
  let at = 0;
  return {
    // Parsed only when it is needed: this runs for every answer.
    saw(date) {
      latest = date;
      at = now();
    },
    skew() {
      const time = Date.parse(latest);
      return Number.isNaN(time) ? undefined : Math.round((time + HALF_SECOND - at) / 1000);
    },
  };
}
