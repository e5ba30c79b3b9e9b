import { invalidInput } from '../../errors';
import { parseChipid } from '../../input/chipid';
import { readInput } from '../../input/values';
import { show } from '../../util/show';
import { EVENT_KINDS, type FleetEventKind, type WatchOptions } from './watch-types';
import { MAX_WATCHED } from './watched-devices';

/** A day, in ms. */
const DAY = 86_400_000;
/** The longest silence, in ms: what a timer can hold. */
const LONGEST = 2_000_000_000;

/** {@link WatchOptions}, checked and complete, times in ms but for `refresh`. */
export interface WatchSettings {
  /** Undefined: all devices. */
  readonly chipids: ReadonlySet<string> | undefined;
  readonly events: ReadonlySet<FleetEventKind>;
  /** In seconds. */
  readonly refresh: number;
  readonly misses: number;
  readonly silence: number;
  readonly settle: number;
  readonly start: 'none' | 'current';
  readonly state: unknown;
}

/** What two watches have in common that observe the same. */
export function watchKey(settings: WatchSettings): string {
  const { chipids, events, refresh, misses, silence, settle, start } = settings;
  const lists = [chipids ? [...chipids].sort() : null, [...events].sort()];
  return JSON.stringify([...lists, refresh, misses, silence, settle, start]);
}

function numberOf(value: unknown, name: string, usual: number, min: number, max: number): number {
  if (value === undefined) return usual;
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw invalidInput(`${name} must be a number from ${min} to ${max}, but is ${show(value)}.`);
}

function eventsOf(value: unknown): Set<FleetEventKind> {
  if (value === undefined) return new Set(['presence']);
  if (!Array.isArray(value)) throw invalidInput(`events must be an array, but is ${show(value)}.`);
  const kinds = value.map((each: unknown) => {
    const kind = EVENT_KINDS.find((known) => known === each);
    if (kind) return kind;
    throw invalidInput(`events may have ${EVENT_KINDS.join(', ')}, but not ${show(each)}.`);
  });
  return new Set(kinds);
}

function chipidsOf(value: unknown): Set<string> | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return new Set(value.map(parseChipid));
  throw invalidInput(`chipids must be an array of chip numbers, but is ${show(value)}.`);
}

function startOf(value: unknown): 'none' | 'current' {
  if (value === undefined || value === 'none') return 'none';
  if (value === 'current') return 'current';
  throw invalidInput(`start must be none or current, but is ${show(value)}.`);
}

/** @throws DeviceCloudError `INVALID_INPUT` that names the option */
export function readWatchOptions(options: WatchOptions): WatchSettings {
  return readInput('options object', () => {
    const misses = numberOf(options.misses, 'misses', 2, 1, 1000);
    if (!Number.isInteger(misses)) throw invalidInput('misses must be a whole number.');
    return {
      chipids: chipidsOf(options.chipids),
      events: eventsOf(options.events),
      refresh: numberOf(options.refresh, 'refresh', 60_000, 1000, DAY) / 1000,
      misses,
      silence: numberOf(options.silence, 'silence', 0, 0, LONGEST),
      settle: numberOf(options.settle, 'settle', 10_000, 0, DAY),
      start: startOf(options.start),
      state: options.state,
    };
  });
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

/** What is kept of a watch until the next start, as JSON. */
export interface SavedState {
  /** The application that it is about. */
  readonly appid: string;
  /** Whether devices that are not in it were offline. */
  readonly complete: boolean;
  /** Whether the list could not be read. */
  readonly unknown: boolean;
  readonly devices: readonly SavedDevice[];
}

const MAX_NAME = 200;

const boolOf = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);

const timeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** Reads one device; undefined if it is invalid, since the state may have been edited, or be of another process. */
export function deviceOf(value: unknown): SavedDevice | undefined {
  if (!Array.isArray(value)) return undefined;
  const [chipid, online, since, silent, connected, name] = value as unknown[];
  try {
    const cut = typeof name === 'string' ? name.slice(0, MAX_NAME) : null;
    const digits = parseChipid(chipid);
    return [digits, boolOf(online), timeOf(since), silent === true, boolOf(connected), cut];
  } catch {
    return undefined;
  }
}

/** Reads what was kept of a watch; empty if it is of another application, or nothing that a watch has written. */
export function readState(value: unknown, appid: string): SavedState {
  const saved = (typeof value === 'object' && value !== null ? value : {}) as Partial<SavedState>;
  if (saved.appid !== appid || !Array.isArray(saved.devices)) {
    return { appid, complete: false, unknown: false, devices: [] };
  }
  const devices = (saved.devices as unknown[]).slice(0, MAX_WATCHED).flatMap((each) => {
    const device = deviceOf(each);
    return device ? [device] : [];
  });
  return { appid, complete: saved.complete === true, unknown: saved.unknown === true, devices };
}
