import { chipidOf, IDENTITY } from '../identity';

/** What devices upload: a text that ends with a count, so that no two are alike. */
const TEXT = 'temperature 21.5 humidity 48 reading ';

/** Digits of the count. They stand for whole groups of Base64, which can be put in place alone. */
const DIGITS = 6;
const GROUP = 3;
export const COUNTS = 10 ** DIGITS;

// Base64 takes three characters at a time.
const BEFORE = TEXT.padEnd(Math.ceil(TEXT.length / GROUP) * GROUP);

/** What a device uploads with that count. */
export const readingOf = (count: number): string =>
  BEFORE + String(count % COUNTS).padStart(DIGITS, '0');

/** Base64 of 000, 001 … 999. */
const GROUPS = Array.from({ length: 10 ** GROUP }, (_, group) =>
  Buffer.from(Buffer.from(String(group).padStart(GROUP, '0')).toString('base64'), 'latin1'),
);

const TIMESTAMP = String(Math.floor(Date.now() / 1000));

/** The event of an upload, as JSON (section 6). */
const eventOf = (device: number, count: number): string =>
  JSON.stringify({
    appid: IDENTITY.appid,
    body: Buffer.from(readingOf(count)).toString('base64'),
    chipid: chipidOf(device),
    timestamp: TIMESTAMP,
    type: 'data_upload',
  });

/** Writes a count into the Base64 of a reading. @param at where the six digits' eight characters stand */
export function putCount(bytes: Buffer, at: number, count: number): void {
  const high = GROUPS[Math.floor((count % COUNTS) / 1000)];
  const low = GROUPS[count % 1000];
  if (!high || !low) throw new RangeError(`There is no count ${count}.`);
  high.copy(bytes, at);
  low.copy(bytes, at + high.length);
}

/** An event with the count 0, and where its count stands. */
export function eventTemplate(device: number): { event: Buffer; countAt: number } {
  const event = Buffer.from(eventOf(device, 0));
  const zeros = GROUPS[0]?.toString('latin1') ?? '';
  return { event, countAt: event.indexOf(zeros + zeros) };
}

/** How many uploads the history of a device has, from the start on. */
export const HISTORY = 1000;
const CREATED = '2026-01-01 12:00:00';

/** The history of a device that has uploaded the counts below `count` (section 2.3): the latest, oldest first. */
export function historyOf(device: number, count: number): string {
  const records: string[] = [];
  const rest = `","app":"bench","create_time":"${CREATED}","dev":"${chipidOf(device)}","id":`;
  for (let id = Math.max(0, count - HISTORY); id < count; id++) {
    records.push(`{"body":"${readingOf(id)}${rest}${id}}`);
  }
  return `[${records.join(',')}]`;
}
