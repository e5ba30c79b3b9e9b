import { invalidInput } from '../../errors';
import { parseChipid } from '../../input/chipid';
import { readInput } from '../../input/values';
import { show } from '../../util/show';
import { EVENT_KINDS, type FleetEventKind, type WatchOptions } from './watch-types';

/** A day, in seconds. */
const DAY = 86_400;
/** The longest silence, in seconds: what a timer can hold. */
const LONGEST = 2_000_000;

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
      refresh: numberOf(options.refresh, 'refresh', 60, 1, DAY),
      misses,
      silence: numberOf(options.silence, 'silence', 0, 0, LONGEST) * 1000,
      settle: numberOf(options.settle, 'settle', 10, 0, DAY) * 1000,
      start: startOf(options.start),
      state: options.state,
    };
  });
}
