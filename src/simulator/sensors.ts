import { fnv1a } from '../util/fnv1a';

/** What a device measures: the values by name, as it uploads them. */
export type Reading = Readonly<Record<string, number | boolean>>;
type Random = () => number;

/** Makes readings, and lets time pass with each. It is called with whether the relay on pin 5 is on. */
export type Sensor = Generator<Reading, never, boolean>;

/**
 * Pseudo-random numbers in [0, 1) that a seed repeats (mulberry32), so that a device measures the same
 * in every run.
 */
export function seededRandom(seed: string): Random {
  let state = fnv1a(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

/** A random number around 0. */
const noise = (random: Random, width: number): number => (random() - 0.5) * 2 * width;

const COLDEST = 16;
/** Above the first a window is opened, below the other it is closed: 25 °C is crossed without any rule, too. */
const OPEN_WINDOW = 28;
const CLOSE_WINDOW = 23;
const COOLING = -0.5;
const AIRING = -0.4;
const WARMING = 0.2;

/**
 * The air around a device, temperature (°C) and humidity (%): a random walk between about 23 and 28 °C that the
 * relay, which switches the cooling, can pull down.
 */
function* climate(random: Random): Sensor {
  let temperature = 23.5 + random();
  let isAiring = false;
  for (;;) {
    const isCooling = yield {
      temperature: tenths(temperature),
      humidity: tenths(55 - (temperature - 25) * 1.5 + noise(random, 1)),
    };
    if (temperature > OPEN_WINDOW) isAiring = true;
    else if (temperature < CLOSE_WINDOW) isAiring = false;
    const drift = isCooling ? COOLING : isAiring ? AIRING : WARMING;
    temperature = Math.max(COLDEST, temperature + drift + noise(random, 0.15));
  }
}

/** The base load of a power meter, in watts. */
const LOWEST_BASE = 90;
const HIGHEST_BASE = 320;
/** What the relay switches, in watts. */
const HEATER = 1500;
/** The time that a reading represents, in hours: five seconds. */
const STEP = 5 / 3600;

/** A meter of power (W), voltage (V) and energy (kWh): a base load, and a heater that the relay switches. */
function* powerMeter(random: Random): Sensor {
  let base = 180 + noise(random, 40);
  let energy = 1200 + 300 * random();
  let isHeating = false;
  for (;;) {
    const power = Math.round(base + (isHeating ? HEATER + noise(random, 15) : 0));
    energy += (power / 1000) * STEP;
    isHeating = yield {
      power,
      voltage: tenths(230 - power / 500 + noise(random, 0.6)),
      energy: Math.round(energy * 1000) / 1000,
    };
    base = Math.min(HIGHEST_BASE, Math.max(LOWEST_BASE, base + noise(random, 30)));
  }
}

/** How often the door was used between two readings. */
const MOVES = 0.3;
/** The battery charge that is always left, and the charge that a reading uses, in %. */
const EMPTY = 5;
const DRAIN = 0.02;

/** A contact at a door, on a battery: whether it is open, and the charge of the battery (%). */
function* door(random: Random): Sensor {
  let isOpen = false;
  let battery = 80 + 15 * random();
  for (;;) {
    yield { open: isOpen, battery: Math.round(battery) };
    if (random() < MOVES) isOpen = !isOpen;
    battery = Math.max(EMPTY, battery - DRAIN);
  }
}

/** What a device measures with, by its kind. */
export const SENSORS = { climate, probe: climate, power: powerMeter, door } as const;

/** What kind of device it is: what it measures, and what its relay switches. */
export type DeviceKind = keyof typeof SENSORS;

/** Begins each upload of a probe. No UTF-8 begins so: whatever it measures, its uploads are no text. */
const PROBE = 0xa1;

/**
 * What a device uploads: JSON, but of a probe four bytes, which a type decodes as
 * `skip:1, i16be temperature / 100, u8 humidity`.
 */
export function uploadOf(kind: DeviceKind, reading: Reading): Buffer {
  if (kind !== 'probe') return Buffer.from(JSON.stringify(reading));
  const bytes = Buffer.from([PROBE, 0, 0, Math.round(Number(reading['humidity']))]);
  bytes.writeInt16BE(Math.round(Number(reading['temperature']) * 100), 1);
  return bytes;
}
