import type { Node } from 'node-red';
import { contextGet, contextSet } from '../common/context';
import { isObject } from '../common/values';
import { chipidOf, type HistoryRecord } from './body';
import { completeMark } from './mark';
import { advance, roomFor, type Position, type Room } from './position';
import { readPosition, savePosition } from './saved-position';

/** Key in the node's context: a {@link Position} for each operation and device, `uploads:10000001`. */
const POSITIONS = 'positions';

/** How many devices are remembered; the one read longest ago is forgotten first. */
const MAX_DEVICES = 10_000;
/** Beside the positions once one was forgotten: that is said once. */
const FORGOTTEN = 'forgotten';

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
function merge(stored: Positions, read: Positions): { positions: Positions; forgets: boolean } {
  const kept = Object.entries(stored).filter(
    ([place]) => place !== FORGOTTEN && !Object.hasOwn(read, place),
  );
  const all = [...kept, ...Object.entries(read)];
  const has = stored[FORGOTTEN] === true;
  const forgets = all.length > MAX_DEVICES;
  const positions = Object.fromEntries(all.slice(-MAX_DEVICES));
  if (has || forgets) positions[FORGOTTEN] = true;
  return { positions, forgets: forgets && !has };
}

function warnOfOverflow(node: Node, devices: number, { others }: Room): void {
  node.warn(
    `The history of ${devices === 1 ? 'a device' : `${devices} devices`} has more than ${others} ` +
      'records whose ids are not numbers and whose times have no order. No more are remembered, so ' +
      'some of them will be emitted again.',
  );
}

function warnOfForgotten(node: Node): void {
  node.warn(
    'This node has read the histories of more than 10,000 devices. It forgets those that it read ' +
      'longest ago, and will emit their records again when it next reads them. Use several nodes.',
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
  const groups = byDevice(records, chipid);
  const placeOf = (device: string): string => `${operation}:${device}`;
  const added = [...groups.keys()].filter((device) => !Object.hasOwn(stored, placeOf(device)));
  const room = roomFor(Math.min(Object.keys(stored).length + added.length, MAX_DEVICES));
  for (const [device, group] of groups) {
    const place = placeOf(device);
    const start = Object.hasOwn(stored, place) ? readPosition(stored[place]) : common;
    const { fresh: news, position } = advance(start, group, room);
    for (const record of news) fresh.add(record);
    read[place] = savePosition(position);
    if (position.overflow && !start.overflow) overflowing++;
  }
  if (overflowing > 0) warnOfOverflow(node, overflowing, room);
  return {
    fresh: records.filter((record) => fresh.has(record)),
    remember: async () => {
      if (records.length === 0) return;
      const { positions, forgets } = merge(stored, read);
      await contextSet(node, POSITIONS, positions);
      if (forgets) warnOfForgotten(node);
    },
  };
}
