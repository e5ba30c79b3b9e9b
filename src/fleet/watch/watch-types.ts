import type { Chipid } from '../../types';
import { invalidInput } from '../../errors';
import { chipidOf, parseChipid, oneOf, readInput } from '../../protocol/values';
import type { Keeping } from '../../store/store';
import { show } from '../../util/show';
import type { ListPoller } from '../list-poller';
import type { FleetRegistry } from '../registry';

/** The groups of events that a watch can be asked for. */
const EVENT_KINDS = ['presence', 'alarm', 'channel', 'recovery'] as const;
/** A group of events: who is online, which limits are crossed, which channels break, how many uploads are recovered. */
export type FleetEventKind = (typeof EVENT_KINDS)[number];

/** Each event and the group it belongs to. */
export const EVENTS = {
  online: 'presence',
  offline: 'presence',
  silent: 'presence',
  heard: 'presence',
  unknown: 'presence',
  known: 'presence',
  alarm: 'alarm',
  cleared: 'alarm',
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
  /** Of `alarm` and `cleared`: which field of the decoded upload. */
  field?: string;
  /** Of `alarm` and `cleared`: its value. */
  value?: number;
  /** Of `alarm` and `cleared`: the line of the type. */
  limit?: string;
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
}

/** What a watch calls. What a callback throws, or its promise rejects with, is a warning of the process. */
export interface WatchListener {
  /** Something has changed. */
  onEvent(event: FleetEvent): void;
  /** What it knows of a device or of the list has changed. Called often. */
  onState?(): void;
  /**
   * The list has been read.
   * @param invalid the number of its records without a valid chip number, which are left out
   */
  onReading?(invalid: number): void;
  /** The list could not be read. */
  onReadError?(error: unknown): void;
}

/** Devices that a watch knows at most. */
export const MAX_WATCHED = 10_000;

/** A day, in ms. */
const DAY = 86_400_000;
/** The longest silence, in ms: what a timer can hold. */
const LONGEST = 2_000_000_000;

/** {@link WatchOptions}, checked and complete. */
export interface WatchSettings extends Readonly<
  Required<Omit<WatchOptions, 'chipids' | 'events'>>
> {
  /** Undefined: all devices. */
  readonly chipids: ReadonlySet<string> | undefined;
  readonly events: ReadonlySet<FleetEventKind>;
}

function numberOf(value: unknown, name: string, usual: number, min: number, max: number): number {
  if (value === undefined) return usual;
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw invalidInput(`${name} must be a number from ${min} to ${max}, but is ${show(value)}.`);
}

function arrayOf(value: unknown, name: string, what = ''): unknown[] | undefined {
  if (value === undefined || Array.isArray(value)) return value;
  throw invalidInput(`${name} must be an array${what}, but is ${show(value)}.`);
}

/** @throws DeviceCloudError `INVALID_INPUT` that names the option */
export function readWatchOptions(options: WatchOptions): WatchSettings {
  return readInput('options object', () => {
    const misses = numberOf(options.misses, 'misses', 2, 1, 1000);
    if (!Number.isInteger(misses)) throw invalidInput('misses must be a whole number.');
    const chipids = arrayOf(options.chipids, 'chipids', ' of chip numbers');
    const events = arrayOf(options.events, 'events') ?? ['presence'];
    return {
      chipids: chipids && new Set(chipids.map(parseChipid)),
      events: new Set(events.map((each) => oneOf('Each of events', EVENT_KINDS, each))),
      refresh: numberOf(options.refresh, 'refresh', 60_000, 1000, DAY),
      misses,
      silence: numberOf(options.silence, 'silence', 0, 0, LONGEST),
      settle: numberOf(options.settle, 'settle', 10_000, 0, DAY),
      start: oneOf('start', ['none', 'current'], options.start ?? 'none'),
    };
  });
}

/** Where a watch keeps, over restarts, what it has emitted. */
export interface WatchKeeping {
  /** Is loaded. */
  readonly store: Keeping;
  /** The node whose state it is there. */
  readonly node: string;
  /** Whether the events of a device are this process's; undefined: events about all devices. */
  readonly owns: (chipid: string | undefined) => boolean;
}

/** One device of a watch, as its events have it. There are up to 10,000. */
export class WatchedDevice {
  /** Null until a reading or an upload has shown it. */
  online: boolean | null = null;
  /** Since when that is so, as far as is known: ms by this machine's clock. */
  since: number | null = null;
  /** Readings in a row that lack the device, and when the first of them began. */
  misses = 0;
  absentSince = 0;
  /** Its name before the last start, until a list shows it again. */
  name: string | null = null;
  /** Milliseconds that its channel has been connected without a live upload, up to the last look. */
  quiet = 0;
  /** That was for long enough. */
  isSilent = false;
  /** Whether its channel is connected, without the short breaks; null until it was, or could not be for long enough. */
  connected: boolean | null = null;
  /** Since when the channel is down, by the clock that is never set; undefined if it is not, or has been for long enough. */
  downSince: number | undefined = undefined;

  constructor(readonly chipid: string) {}

  /** What is kept of it. @param name as it is now */
  saved(name: string | null): SavedDevice {
    return [this.chipid, this.online, this.since, this.isSilent, this.connected, name];
  }
}

/** What a watch observes. */
export interface WatchSource {
  readonly appid: string;
  /** It learns of each reading of the list, and of each upload, first. */
  readonly registry: Pick<FleetRegistry, 'get' | 'devices' | 'addWatcher' | 'isOnline' | 'name'>;
  readonly poller: Pick<ListPoller, 'poll'>;
  /** This machine's clock, in ms. */
  readonly now: () => number;
  /** For silences and lost channels: a clock that is never set, in ms. */
  readonly clock: () => number;
  /** Default: nothing is kept. */
  readonly keeping?: WatchKeeping | undefined;
}

/** What is kept of one device: an array, since there may be 10,000. */
export type SavedDevice = readonly [
  chipid: string,
  online: boolean | null,
  since: number | null,
  silent: boolean,
  connected: boolean | null,
  name: string | null,
];

const boolOf = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);

const timeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** Reads what was kept of a device; undefined if it is invalid, since it may have been edited. */
export function readSaved(value: unknown): SavedDevice | undefined {
  if (!Array.isArray(value)) return undefined;
  const [chipid, online, since, silent, connected, name] = value as unknown[];
  const digits = chipidOf(chipid);
  if (digits === undefined) return undefined;
  const text = typeof name === 'string' ? name : null;
  return [digits, boolOf(online), timeOf(since), silent === true, boolOf(connected), text];
}
