import { DeviceCloudError } from '../errors';
import { hash32 } from '../util/hash32';
import { show } from '../util/show';

/** One share of the devices: of `count` shares, the one with this index, from 0. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** More processes than are ever run; a count is hashed once per device and share. */
const MOST = 1024;

const FORM = /^\s*(\d{1,4})\s*\/\s*(\d{1,4})\s*$/;

/**
 * Reads a share as text, `2/3`: the third of three, since the ordinal counts from 0.
 * @throws DeviceCloudError `NOT_CONFIGURED`
 */
export function readShard(text: string): Shard {
  const [, index, count] = FORM.exec(text) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  if (shard.count >= 1 && shard.count <= MOST && shard.index < shard.count) return shard;
  throw new DeviceCloudError(
    'NOT_CONFIGURED',
    `The shard must be an ordinal and a count, such as 0/3, with the ordinal from 0 to the count less one and at most ${MOST} ` +
      `shares, but is ${show(text)}.`,
  );
}

/**
 * Whether a device belongs to a share, by rendezvous hashing: when a share is added, only the devices that move to
 * the new one change their place.
 */
export function inShard(chipid: string, { index, count }: Shard): boolean {
  const own = weight(chipid, index);
  for (let other = 0; other < count; other++) {
    if (other === index) continue;
    const weightThere = weight(chipid, other);
    if (weightThere > own || (weightThere === own && other < index)) return false;
  }
  return true;
}

const weight = (chipid: string, index: number): number => hash32(`${index}/${chipid}`);
