import type { DeviceCloudClient, DeviceRecord } from '../../../src/index';
import { zoneOfService } from '../../common/app';

/** What the editor may know of a device: never its `devkey`. */
export interface DeviceChoice {
  chipid: string;
  name: string | null;
  latest: string;
  /** Seconds since `latest`, by the service's clock; null if it is no time of the service's, or yet to come. */
  age: number | null;
  vertype: number;
}

/** A time of the service, without the zone that it is in (section 2). */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** How many seconds ahead a time may be: clocks are read in whole seconds, and an answer takes a while. */
const AHEAD = 60;

/** @param now of the service, Unix time in milliseconds */
function ageOf(latest: unknown, zone: string, now: number): number | null {
  if (typeof latest !== 'string' || !TIME.test(latest)) return null;
  const age = Math.round((now - Date.parse(`${latest.replace(' ', 'T')}${zone}`)) / 1000);
  return age >= -AHEAD ? Math.max(0, age) : null;
}

/** The devices as the editor offers them. */
export function toChoices(
  records: readonly DeviceRecord[],
  client: Pick<DeviceCloudClient, 'clockSkew' | 'historyZone'>,
): DeviceChoice[] {
  const { clockSkew = 0 } = client;
  const zone = zoneOfService(client);
  const now = Date.now() + clockSkew * 1000;
  return records.map(({ chipid, name, latest, vertype }) => ({
    chipid: String(chipid),
    name: name === null ? null : String(name),
    latest,
    age: ageOf(latest, zone, now),
    vertype,
  }));
}
