import { parseChipid } from '../input/chipid';
import type { DeviceRecord } from '../types';

/** The result of one reading of the list of online devices. */
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

/** Sorts the records of a list by their chip numbers; of two with one number the first counts. */
export function byChipid(
  records: readonly DeviceRecord[],
): Pick<ListReading, 'devices' | 'invalid'> {
  const devices = new Map<string, DeviceRecord>();
  let invalid = 0;
  for (const record of records) {
    const chipid = chipidOf(record);
    if (chipid === undefined) invalid++;
    else if (!devices.has(chipid)) devices.set(chipid, record);
  }
  return { devices, invalid };
}

function chipidOf({ chipid }: DeviceRecord): string | undefined {
  try {
    return parseChipid(chipid);
  } catch {
    return undefined;
  }
}
