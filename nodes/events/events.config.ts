import { firstOf } from '../common/shared.config';

/** The kinds of events. The library has the same. */
export const KINDS = ['presence', 'alarm', 'channel', 'recovery'] as const;
export type Kind = (typeof KINDS)[number];

export const CHOICES = { devices: ['all', 'list', 'group'], start: ['none', 'current'] } as const;

export const DEFAULTS = {
  app: '',
  devices: firstOf(CHOICES.devices),
  chipids: [] as string[],
  /** Of the device book; empty: all of its devices. */
  group: '',
  events: ['presence'] as Kind[],
  /** Seconds between two readings of the list. */
  refresh: 60 as number | string,
  /** Readings in a row that lack a device before it is offline. */
  misses: 2 as number | string,
  /** Seconds without an upload after which a device is silent; 0 is off. */
  silence: 0 as number | string,
  /** Seconds that a channel is down before it counts as disconnected. */
  settle: 10 as number | string,
  start: firstOf(CHOICES.start),
};
export type EventsConfig = typeof DEFAULTS;

/** The limits of the numbers. The library has the same. */
export const LIMITS = {
  refresh: { min: 1, max: 86_400 },
  misses: { min: 1, max: 1000, isWhole: true },
  silence: { min: 0, max: 2_000_000 },
  settle: { min: 1, max: 86_400 },
} as const;
