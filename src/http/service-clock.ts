/** A header cuts its second off: half of one is the fairest guess. */
const HALF_SECOND = 500;

/** Remembers the latest `Date` header, so that the difference of the clocks can be told. */
export interface ServiceClock {
  saw(date: string): void;
  /** Seconds that the service is ahead; undefined if no answer has told. */
  skew(): number | undefined;
}

export function createServiceClock(now: () => number): ServiceClock {
  let latest = '';
  let at = 0;
  return {
    // Only noted here, on the path of every answer; read when somebody asks.
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
