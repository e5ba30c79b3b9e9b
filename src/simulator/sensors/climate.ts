import type { Sensor } from './sensor';

const COLDEST = 16;
/** Above the first a window is opened, below the other it is closed: 25 °C is crossed without any rule, too. */
const OPEN_WINDOW = 28;
const CLOSE_WINDOW = 23;
const COOLING = -0.5;
const AIRING = -0.4;
const WARMING = 0.2;

const tenths = (value: number): number => Math.round(value * 10) / 10;

/**
 * The air around a device, temperature (°C) and humidity (%): a random walk between about 23 and 28 °C that the
 * relay, which switches the cooling, can pull down.
 */
export function createClimate(random: () => number): Sensor {
  const noise = (width: number): number => (random() - 0.5) * 2 * width;
  let temperature = 23.5 + random();
  let airing = false;

  const measure = () => ({
    temperature: tenths(temperature),
    humidity: tenths(55 - (temperature - 25) * 1.5 + noise(1)),
  });
  let reading = measure();

  return {
    get reading() {
      return reading;
    },
    step(cooling) {
      if (temperature > OPEN_WINDOW) airing = true;
      else if (temperature < CLOSE_WINDOW) airing = false;
      const drift = cooling ? COOLING : airing ? AIRING : WARMING;
      temperature = Math.max(COLDEST, temperature + drift + noise(0.15));
      reading = measure();
      return reading;
    },
  };
}
