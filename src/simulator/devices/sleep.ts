import type { SleepOptions } from '../options/device-options';
import type { Timers } from '../util/timers';

/** Whether a device sleeps: by hand, or by itself with a timetable. */
export interface Sleep {
  readonly asleep: boolean;
  /** Falls asleep. With a timetable it wakes by itself, without one it sleeps until {@link wake}. */
  sleep(): void;
  /** Wakes, or stays awake. With a timetable the time awake starts over. */
  wake(): void;
  /** Ends the timetable. */
  stop(): void;
}

/**
 * Makes the sleep of a device, which begins awake.
 * @param onSleep is called each time the device falls asleep
 * @param onWake is called each time the device wakes
 */
export function createSleep(
  timetable: Readonly<SleepOptions> | undefined,
  timers: Timers,
  onSleep: () => void,
  onWake: () => void,
): Sleep {
  let asleep = false;
  let stop = (): void => undefined;

  const next = (seconds: number, run: () => void): void => {
    stop();
    stop = timers.after(seconds * 1000, run);
  };
  const stayAwake = (): void => {
    if (timetable) next(timetable.awake, sleep);
  };
  const sleep = (): void => {
    if (timetable) next(timetable.every - timetable.awake, wake);
    if (asleep) return;
    asleep = true;
    onSleep();
  };
  const wake = (): void => {
    stayAwake();
    if (!asleep) return;
    asleep = false;
    onWake();
  };

  stayAwake();
  return {
    get asleep() {
      return asleep;
    },
    sleep,
    wake,
    stop: () => stop(),
  };
}
