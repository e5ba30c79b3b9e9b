/** The kinds of events. The library has the same. */
export const KINDS = ['presence', 'channel', 'recovery'] as const;
export type Kind = (typeof KINDS)[number];

export interface EventsConfig {
  app: string;
  devices: 'all' | 'list' | 'group';
  chipids: string[];
  /** Of the device book; empty: all of its devices. */
  group: string;
  events: Kind[];
  /** Seconds between two readings of the list. */
  refresh: number | string;
  /** Readings in a row that lack a device before it is offline. */
  misses: number | string;
  /** Seconds without an upload after which a device is silent; 0 is off. */
  silence: number | string;
  /** Seconds that a channel is down before it counts as disconnected. */
  settle: number | string;
  start: 'none' | 'current';
}

export const DEFAULTS: EventsConfig = {
  app: '',
  devices: 'all',
  chipids: [],
  group: '',
  events: ['presence'],
  refresh: 60,
  misses: 2,
  silence: 0,
  settle: 10,
  start: 'none',
};

/** The limits of the numbers. The library has the same. */
export const LIMITS = {
  refresh: { min: 1, max: 86_400 },
  misses: { min: 1, max: 1000 },
  silence: { min: 0, max: 2_000_000 },
  settle: { min: 1, max: 86_400 },
} as const;
