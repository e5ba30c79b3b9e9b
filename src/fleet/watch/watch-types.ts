import type { Ownership } from '../../channel/ownership';
import type { Chipid } from '../../types';

/** The groups of events that a watch can be asked for. */
export const EVENT_KINDS = ['presence', 'channel', 'recovery'] as const;
/** A group of events: who is online, which channels break, what is recovered. */
export type FleetEventKind = (typeof EVENT_KINDS)[number];

/** Each event and the group it belongs to. */
export const EVENTS = {
  online: 'presence',
  offline: 'presence',
  silent: 'presence',
  heard: 'presence',
  unknown: 'presence',
  known: 'presence',
  connected: 'channel',
  disconnected: 'channel',
  recovering: 'recovery',
  recovered: 'recovery',
} as const satisfies Record<string, FleetEventKind>;
/** What has happened. */
export type FleetEventName = keyof typeof EVENTS;

/** A change of a device's state, or of what can be known of all. Times are in ms since 1970, by this clock. */
export interface FleetEvent {
  /** What has happened. */
  event: FleetEventName;
  /** The application. */
  appid: string;
  /** The device; undefined for `unknown` and `known`, which concern all of them. */
  chipid: string | undefined;
  /** Whether the device is online; null if that is not known. */
  online: boolean | null;
  /** What the device is called, if a list has shown it. */
  name: string | null;
  /** Since when it is online or offline; of `unknown` and `known`, since when the list fails or is read again. */
  since: number | null;
  /** When its last live upload arrived, if one has since the client was made. */
  lastUpload: number | null;
  /** Of `disconnected` as of a channel, of `unknown` the code of the error. */
  reason?: string;
  /** Of `recovered`: the number of recovered uploads. */
  count?: number;
}

/** What to watch. What is wrong with an option is `INVALID_INPUT`. */
export interface WatchOptions {
  /** Default: all devices that a list, an upload or a channel shows, at most 10,000. */
  chipids?: readonly Chipid[];
  /** Default `presence` alone. */
  events?: readonly FleetEventKind[];
  /** Milliseconds between two readings of the list, default 60,000, at least 1000. All who poll it share the shortest. */
  refresh?: number;
  /** After how many readings in a row that lack it a device is offline, default 2. */
  misses?: number;
  /** Milliseconds without a live upload, on a connected channel, after which a device is silent. Default 0: never. */
  silence?: number;
  /** Milliseconds that a channel must be down before `disconnected`, default 10,000. */
  settle?: number;
  /** Whether each device's state is an event once, after the first reading (`current`); default `none`. */
  start?: 'none' | 'current';
  /** What an earlier watch's `state()` returned: then only what has changed since is an event. */
  state?: unknown;
}

/** What a watch calls. What a callback throws, or its promise rejects with, is a warning of the process. */
export interface WatchListener {
  /** Something has changed. */
  onEvent(event: FleetEvent): void;
  /** What `state()` returns has changed. Called often: read it when it is needed. */
  onState?(): void;
  /**
   * The list has been read.
   * @param invalid the number of its records without a valid chip number, which are left out
   */
  onReading?(invalid: number): void;
  /** The list could not be read. */
  onReadError?(error: unknown): void;
}

/** A watch that runs. */
export interface FleetWatch {
  /** How many devices it knows, and how many of them are online. */
  counts(): { devices: number; online: number };
  /** What to keep for the watch after the next start: JSON, without secrets. Also once it has ended. */
  state(): object;
  /** Ends it: nothing is called any more. May be called again. */
  close(): void;
}

/** The state of one device of a watch: first its chip number, then whatever the watch has put there. */
export type WatchedState = readonly [chipid: string, ...rest: unknown[]];

/** A watch that runs in several processes. */
export interface SharedWatch {
  /** Identifies the watch in all processes: it is made of its options. */
  readonly key: string;
  states(): Iterable<WatchedState>;
  /** Applies the state of a device, which the process that holds it has sent. It may be malformed. */
  apply(state: unknown): void;
  /** This process may hold other devices now, or may emit events again. */
  moved(): void;
}

/** The connection of a watch to the other processes. */
export interface WatchPlace {
  /** A device of this process has changed. */
  changed(chipid: string): void;
  leave(): void;
}

/** Decides which process emits the events of a watch. */
export interface WatchShare extends Pick<Ownership, 'mayEmit'> {
  /** Whether it emits those that concern all devices. */
  readonly emitsForAll: boolean;
  join(watch: SharedWatch): WatchPlace;
}
