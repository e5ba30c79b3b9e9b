import type { Node } from 'node-red';
import { contextGet, contextSet } from '../common/context';
import { isObject } from '../common/values';
import { chipidOf, type HistoryRecord } from './body';
import { completeMark } from './mark';
import { advance, MAX_OTHERS, type Position } from './position';
import { readPosition, savePosition } from './saved-position';

/** Key in the node's context: a {@link Position} for each operation and device, `uploads:10000001`. */
const POSITIONS = 'positions';

/** How many devices are remembered; the one read longest ago is forgotten first. */
const MAX_DEVICES = 10_000;

type Positions = Record<string, unknown>;

/** In a synchronisation (section 2.5) each record names its own device. */
const deviceOf = (record: HistoryRecord, chipid: string): string =>
  'chipid' in record ? chipidOf(record).slice(0, 40) : chipid;

function byDevice<R extends HistoryRecord>(
  records: readonly R[],
  chipid: string,
): Map<string, R[]> {
  const devices = new Map<string, R[]>();
  for (const record of records) {
    const device = deviceOf(record, chipid);
    const group = devices.get(device);
    if (group) group.push(record);
    else devices.set(device, [record]);
  }
  return devices;
}

/** Moves the devices just read to the end, and drops those read longest ago. */
function merge(stored: Positions, read: Positions): Positions {
  const kept = Object.entries(stored).filter(([place]) => !Object.hasOwn(read, place));
  return Object.fromEntries([...kept, ...Object.entries(read)].slice(-MAX_DEVICES));
}

function warnOfOverflow(node: Node, devices: number): void {
  node.warn(
    `The history of ${devices === 1 ? 'a device' : `${devices} devices`} has more than ${MAX_OTHERS} ` +
      'records whose ids are not numbers and whose times have no order. No more are remembered, so ' +
      'some of them will be emitted again.',
  );
}

/**
 * Leaves out the records that were emitted before, by a position for each device.
 * @param operation which history it is
 * @param chipid the device, or empty where each record names its own
 * @returns the new records, and a function to call once they have been emitted, which remembers them
 */
export async function onlyNew<R extends HistoryRecord>(
  node: Node,
  operation: string,
  chipid: string,
  records: readonly R[],
): Promise<{ fresh: R[]; remember: () => Promise<void> }> {
  const saved = await contextGet(node, POSITIONS);
  const stored: Positions = isObject(saved) ? saved : {};
  // An earlier version kept one number for all devices of a synchronisation.
  const earlier = Object.hasOwn(stored, operation)
    ? readPosition(stored[operation]).before
    : undefined;
  const common: Position = {
    emitted: [],
    ...(earlier && { before: completeMark(earlier, records) }),
  };
  const read: Positions = earlier ? { [operation]: savePosition(common) } : {};
  let overflowing = 0;
  const fresh = new Set<R>();
  for (const [device, group] of byDevice(records, chipid)) {
    const place = `${operation}:${device}`;
    const start = Object.hasOwn(stored, place) ? readPosition(stored[place]) : common;
    const { fresh: news, position } = advance(start, group);
    for (const record of news) fresh.add(record);
    read[place] = savePosition(position);
    if (position.overflow && !start.overflow) overflowing++;
  }
  if (overflowing > 0) warnOfOverflow(node, overflowing);
  return {
    fresh: records.filter((record) => fresh.has(record)),
    remember: async () => {
      if (records.length > 0) await contextSet(node, POSITIONS, merge(stored, read));
    },
  };
}
