import { createClimate } from './climate';
import { createDoor } from './door';
import { createPowerMeter } from './power-meter';

/** What a device measures: the values by name, as it uploads them. */
export type Reading = Readonly<Record<string, number | boolean>>;

/** What a device measures with, moved on by each reading. */
export interface Sensor {
  /** The last reading. */
  readonly reading: Reading;
  /** Lets time pass and measures again. @param relay whether the relay on pin 5 is switched on */
  step(relay: boolean): Reading;
}

const KINDS = { climate: createClimate, power: createPowerMeter, door: createDoor } as const;

/** What kind of device it is: what it measures, and what its relay switches. */
export type DeviceKind = keyof typeof KINDS;

export const DEVICE_KINDS = Object.keys(KINDS) as DeviceKind[];

export const createSensor = (kind: DeviceKind, random: () => number): Sensor => KINDS[kind](random);
