import { chipidOf, chipids, IDENTITY } from '../identity';

/*
 * What devices upload: a text that ends in a count, so that no two are alike. Base64 takes three
 * characters at a time: of a text of 39 and six digits, only the last two groups change.
 */

const TEXT = 'temperature 21.5, humidity 48, reading ';
const COUNTS = 1_000_000;
const TIMESTAMP = String(Math.floor(Date.now() / 1000));

/** Matches every upload. */
export const READING = new RegExp(`^${TEXT}\\d{6}$`);

const readingOf = (count: number): string => TEXT + String(count % COUNTS).padStart(6, '0');

const GROUPS = Array.from({ length: 1000 }, (_, group) => btoa(String(group).padStart(3, '0')));

/** Base64 of the count, as it ends the body of an upload. */
export const countInBase64 = (count: number): string =>
  `${GROUPS[Math.floor((count % COUNTS) / 1000)]}${GROUPS[count % 1000]}`;

/** The JSON of a device's upload (section 6), before and after the count. */
export const uploadAround = (device: number): [before: string, after: string] => [
  `{"appid":"${IDENTITY.appid}","body":"${btoa(TEXT)}`,
  `","chipid":"${chipidOf(device)}","timestamp":"${TIMESTAMP}","type":"data_upload"}`,
];

/** Records in a history, and uploads that a device has sent before its channel opens. */
export const HISTORY = 1000;

/** The last records of a device that has sent `sent` uploads (section 2.3), oldest first. */
export function recordsUpTo(sent: number, count: number, device = 0): string[] {
  const records: string[] = [];
  const rest = `","app":"bench","create_time":"2026-01-01 12:00:00","dev":"${chipidOf(device)}","id":`;
  for (let id = sent - count; id < sent; id++) {
    records.push(`{"body":"${readingOf(id)}${rest}${id}}`);
  }
  return records;
}

/** Seconds between two records of a year. */
const PACE = 105;
const NEW_YEAR = Date.UTC(2026, 0, 1);

/**
 * The same, newest first, as the public server of 2016 gives them, with the times of a year. All devices are given the
 * same: so the field that names the device is called otherwise.
 */
export function newestOf(sent: number, count: number): string[] {
  const timeOf = (id: number): string =>
    new Date(NEW_YEAR + id * PACE * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return recordsUpTo(sent, count)
    .map((record, index) =>
      record.replace('2026-01-01 12:00:00', timeOf(sent - count + index)).replace('"dev"', '"all"'),
    )
    .reverse();
}

/** The history of a device that has sent `sent` uploads: the latest, oldest first. */
export const historyOf = (device: number, sent: number): string =>
  `[${recordsUpTo(sent, HISTORY, device).join(',')}]`;

/** Records in the history of a year: one in 105 s. */
export const YEAR = 300_000;

/** Uploads of each device with such a history while its channel is down. */
export const MISSED = 3;

/** A history of 200 MB. */
export const LONG_HISTORY = { device: 1_000_000, records: 1_450_000 };

/** Devices in the list of those that are online. */
export const ONLINE = 5000;

/** That list (section 2.1). */
export const DEVICE_LIST = JSON.stringify(
  chipids(ONLINE).map((chipid) => ({
    ...{ chipid: Number(chipid), devid: Number(chipid), appid: Number(IDENTITY.appid), vertype: 1 },
    ...{ name: `device ${chipid}`, devkey: 'x'.repeat(32), latest: '2026-01-01 00:00:00' },
  })),
);
