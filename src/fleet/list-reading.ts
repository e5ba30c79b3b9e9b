import { DeviceCloudError } from '../errors';
import { parseChipid } from '../input/chipid';
import type { DeviceRecord } from '../types';

/** The result of one good reading of the list of online devices. */
export interface ListReading {
  /** When the request began, in ms by this clock. */
  readonly at: number;
  /** By chip number, as digits. */
  readonly devices: ReadonlyMap<string, DeviceRecord>;
  /** The number of records without a valid chip number, which are left out. */
  readonly invalid: number;
  /** Whether it was a turn of the poller: readings on demand may follow too soon to count as absences. */
  readonly polled: boolean;
}

/** Compares times as the service writes them; what it writes may be anything. */
const isNewer = (latest: unknown, other: unknown): boolean => String(latest) > String(other);

/**
 * A list in which each device is once: the public server of 2016 may list one twice, with another `latest`. The record
 * with the newer one is kept, in the place of the first. Records without a valid chip number stay.
 */
export function eachOnce(records: readonly DeviceRecord[]): DeviceRecord[] {
  const places = new Map<string, number>();
  const unique: DeviceRecord[] = [];
  for (const record of records) {
    const chipid = chipidOf(record);
    const place = chipid === undefined ? undefined : places.get(chipid);
    if (place === undefined) {
      if (chipid !== undefined) places.set(chipid, unique.length);
      unique.push(record);
    } else if (isNewer(record.latest, unique[place]?.latest)) unique[place] = record;
  }
  return unique;
}

/**
 * Sorts the records of a list by their chip numbers: see {@link eachOnce}.
 * @param statusCode of the answer, for the error
 * @throws DeviceCloudError `INVALID_RESPONSE` if it has records, and none has a valid chip number: such a list says
 * nothing about who is offline
 */
export function byChipid(
  records: readonly DeviceRecord[],
  statusCode?: number,
): Pick<ListReading, 'devices' | 'invalid'> {
  const devices = new Map<string, DeviceRecord>();
  let invalid = 0;
  for (const record of eachOnce(records)) {
    const chipid = chipidOf(record);
    if (chipid === undefined) invalid++;
    else devices.set(chipid, record);
  }
  if (invalid > 0 && devices.size === 0) throw unusable(invalid, statusCode);
  return { devices, invalid };
}

function chipidOf(record: DeviceRecord): string | undefined {
  try {
    return parseChipid(record.chipid);
  } catch {
    // A record that is no object ends here, too.
    return undefined;
  }
}

const unusable = (records: number, statusCode: number | undefined): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    `Listing the online devices failed: ${records === 1 ? 'its only record has no' : `none of its ${records} records has a`} ` +
      "valid chip number. Check that the address is the service's.",
    statusCode,
  );
