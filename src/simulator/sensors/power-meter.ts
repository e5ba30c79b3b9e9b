import type { Sensor } from './sensor';

const HIGHEST_BASE = 320;
const LOWEST_BASE = 90;
/** What the relay switches, in watts. */
const HEATER = 1500;
/** The time that a reading represents, in hours: five seconds. */
const STEP = 5 / 3600;

const tenths = (value: number): number => Math.round(value * 10) / 10;

/** A meter of power (W), voltage (V) and energy (kWh): a base load, and a heater that the relay switches. */
export function createPowerMeter(random: () => number): Sensor {
  const noise = (width: number): number => (random() - 0.5) * 2 * width;
  let base = 180 + noise(40);
  let energy = 1200 + 300 * random();

  const measure = (relay: boolean) => {
    const power = Math.round(base + (relay ? HEATER + noise(15) : 0));
    energy += (power / 1000) * STEP;
    return {
      power,
      voltage: tenths(230 - power / 500 + noise(0.6)),
      energy: Math.round(energy * 1000) / 1000,
    };
  };
  let reading = measure(false);

  return {
    get reading() {
      return reading;
    },
    step(relay) {
      base = Math.min(HIGHEST_BASE, Math.max(LOWEST_BASE, base + noise(30)));
      reading = measure(relay);
      return reading;
    },
  };
}
