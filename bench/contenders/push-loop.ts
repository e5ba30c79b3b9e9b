import { chipidOf, messageOf } from '../identity';
import { startMeter, type Sample } from '../process/meter';

/** How long to push, and to how many devices. */
export interface PushRun {
  seconds: number;
  devices: number;
}

/** A process that pushes. */
export interface PushMethods {
  run(how: PushRun): Promise<Sample>;
}

/** Pushes that are on their way at any moment. */
export const AT_ONCE = 64;

/**
 * Pushes to one device after the other, so many at once, until the time is over and all have ended.
 * @param push starts one, and calls back when it has ended well
 */
export function pushLoop(
  { seconds, devices }: PushRun,
  push: (chipid: string, message: string, done: () => void) => void,
): Promise<Sample> {
  return new Promise((resolve) => {
    const measured = startMeter();
    const until = performance.now() + seconds * 1000;
    let count = 0;
    let running = AT_ONCE;

    const next = (): void => {
      if (performance.now() < until) {
        push(chipidOf(count % devices), messageOf(count), next);
        count++;
      } else if (--running === 0) resolve(measured(count));
    };
    // A loop until so many run would be without end, were the time over before.
    for (let each = 0; each < AT_ONCE; each++) next();
  });
}
