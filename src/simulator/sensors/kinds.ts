import { createClimate } from './climate';
import { createDoor } from './door';
import { createPowerMeter } from './power-meter';
import type { Sensor } from './sensor';

const KINDS = { climate: createClimate, power: createPowerMeter, door: createDoor } as const;

/** What kind of device it is: what it measures, and what its relay switches. */
export type DeviceKind = keyof typeof KINDS;

export const DEVICE_KINDS = Object.keys(KINDS) as DeviceKind[];

export const createSensor = (kind: DeviceKind, random: () => number): Sensor => KINDS[kind](random);
