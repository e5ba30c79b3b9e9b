import type { Sensor } from './sensor';

/** How often the door was used between two readings. */
const MOVES = 0.3;
const EMPTY = 5;
/** The battery charge that a reading uses, in %. */
const DRAIN = 0.02;

/** A contact at a door, on a battery: whether it is open, and what is left of the battery (%). */
export function createDoor(random: () => number): Sensor {
  let open = false;
  let battery = 80 + 15 * random();
  const measure = () => ({ open, battery: Math.round(battery) });
  let reading = measure();

  return {
    get reading() {
      return reading;
    },
    step() {
      if (random() < MOVES) open = !open;
      battery = Math.max(EMPTY, battery - DRAIN);
      reading = measure();
      return reading;
    },
  };
}
