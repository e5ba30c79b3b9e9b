/** What a device measures. */
export interface Reading {
  /** °C */
  readonly temperature: number;
  /** % */
  readonly humidity: number;
}

/** The air around a device, moved on by each reading. */
export interface Climate {
  /** The last reading. */
  readonly reading: Reading;
  /** Lets time pass and measures again. @param cooling whether the cooling is switched on */
  step(cooling: boolean): Reading;
}

const COLDEST = 16;
/** Above this somebody opens a window, below the other closes it: 25 °C is crossed with no rule either. */
const OPEN_WINDOW = 28;
const CLOSE_WINDOW = 23;
const COOLING = -0.5;
const AIRING = -0.4;
const WARMING = 0.2;

const tenths = (value: number): number => Math.round(value * 10) / 10;

/** A random walk between about 23 and 28 °C that the cooling can pull down. */
export function createClimate(random: () => number): Climate {
  const noise = (width: number): number => (random() - 0.5) * 2 * width;
  let temperature = 23.5 + random();
  let airing = false;

  const measure = (): Reading => ({
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
