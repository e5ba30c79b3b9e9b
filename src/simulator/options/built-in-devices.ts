import type { DeviceOptions } from './device-options';

/**
 * The devices of the simulator that a config node starts: different kinds, of which two come and go. A door
 * sensor wakes for a moment and sleeps, and the last one loses its connection every now and then.
 */
export const BUILT_IN_DEVICES: readonly DeviceOptions[] = [
  { chipid: 10_000_001, name: 'Greenhouse' },
  { chipid: 10_000_002, name: 'Server room' },
  { chipid: 10_000_003, name: 'Workshop' },
  { chipid: 10_000_004, name: 'Power meter', kind: 'power' },
  { chipid: 10_000_005, name: 'Front door', kind: 'door', sleep: { awake: 12, every: 45 } },
  { chipid: 10_000_006, name: 'Garage', sleep: { awake: 70, every: 95 } },
];
