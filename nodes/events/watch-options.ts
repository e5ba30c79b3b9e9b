import type { WatchOptions } from '../../src/index';
import { invalidInput, show } from '../../src/input';
import { asError } from '../common/errors';
import { readListEntry } from '../common/list-entry';
import { numberOf } from '../common/values';
import { LIMITS, type EventsConfig } from './events.config';

/** A number as the properties have it, or the nearest that is possible. */
function limited(value: number | string | null | undefined, name: keyof typeof LIMITS): number {
  const { usual, min, max } = LIMITS[name];
  // In a flow written by hand a property may be null.
  const number = numberOf(value ?? undefined, usual);
  return Number.isNaN(number) ? usual : Math.min(Math.max(min, number), max);
}

/** The devices of a list: an entry that is no device is left out. @throws DeviceCloudError `INVALID_INPUT` */
function chipidsOf(list: unknown, failed: (error: Error) => void): string[] {
  const entries = list ?? [];
  if (!Array.isArray(entries)) {
    throw invalidInput(`The list of devices must be an array, but is ${show(list)}.`);
  }
  return entries.flatMap((entry: unknown) => {
    try {
      return [readListEntry(entry)];
    } catch (error) {
      failed(asError(error));
      return [];
    }
  });
}

/**
 * Makes the options of a watch of the node's properties, which a flow written by hand may lack.
 * @param failed is called for each entry of the list that is no device; the others are watched all the same
 */
export function watchOptions(
  config: Partial<EventsConfig>,
  failed: (error: Error) => void,
): WatchOptions {
  return {
    ...(config.devices === 'list' ? { chipids: chipidsOf(config.chipids, failed) } : {}),
    events: config.events ?? ['presence'],
    refresh: limited(config.refresh, 'refresh'),
    misses: Math.round(limited(config.misses, 'misses')),
    silence: limited(config.silence, 'silence'),
    settle: limited(config.settle, 'settle'),
    start: config.start ?? 'none',
  };
}
