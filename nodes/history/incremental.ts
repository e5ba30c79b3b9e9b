import type { Node } from 'node-red';
import { DeviceCloudError } from '../../src/errors';
import { contextGet, contextSet } from '../common/context';
import type { HistoryRecord } from './body';

/** Key in the node's context: the newest id emitted so far, for each device or for the synchronisation. */
const POSITIONS = 'positions';

type Positions = Record<string, string>;

function idOf(record: HistoryRecord): bigint {
  const text = String(record.id);
  if (/^\d+$/.test(text)) return BigInt(text);
  throw new DeviceCloudError(
    'INVALID_RESPONSE',
    'The ids of the history records are not numbers, so that newer ones cannot be told from older ones. ' +
      'Turn off "only new records".',
  );
}

/**
 * Leaves out the records that were emitted before.
 * @param place what the history is of: operation and device
 * @returns the new ones, and a function that remembers them once they have been emitted
 */
export async function onlyNew<R extends HistoryRecord>(
  node: Node,
  place: string,
  records: readonly R[],
): Promise<{ fresh: R[]; remember: () => Promise<void> }> {
  const positions = ((await contextGet(node, POSITIONS)) ?? {}) as Positions;
  const position = BigInt(positions[place] ?? -1);
  let newest = position;
  const fresh = records.filter((record) => {
    const id = idOf(record);
    if (id > newest) newest = id;
    return id > position;
  });
  return {
    fresh,
    remember: async () => {
      if (newest > position) {
        await contextSet(node, POSITIONS, { ...positions, [place]: String(newest) });
      }
    },
  };
}
