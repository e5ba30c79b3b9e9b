import type { WatchOptions } from '../../src/index';
import { asError } from '../common/errors';
import { readListEntry } from '../common/list-entry';
import { numberOf } from '../common/values';
import { LIMITS, type EventsConfig } from './events.config';

/** A number as the properties have it, or the nearest that is possible. */
function limited(value: number | string | undefined, name: keyof typeof LIMITS): number {
  const { usual, min, max } = LIMITS[name];
  const number = numberOf(value, usual);
  return Number.isNaN(number) ? usual : Math.min(Math.max(min, number), max);
}

/**
 * Makes the options of a watch of the node's properties, which a flow written by hand may lack.
 * @param failed is called for each entry of the list that is no device; the others are watched all the same
 */
export function watchOptions(
  config: Partial<EventsConfig>,
  failed: (error: Error) => void,
): WatchOptions {
  const chipids = (config.chipids ?? []).flatMap((entry) => {
    try {
      return [readListEntry(entry)];
    } catch (error) {
      failed(asError(error));
      return [];
    }
  });
  return {
    ...(config.devices === 'list' ? { chipids } : {}),
    events: config.events ?? ['presence'],
    refresh: limited(config.refresh, 'refresh'),
    misses: Math.round(limited(config.misses, 'misses')),
    silence: limited(config.silence, 'silence'),
    settle: limited(config.settle, 'settle'),
    start: config.start ?? 'none',
  };
}
