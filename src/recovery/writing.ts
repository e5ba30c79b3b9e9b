import { isUtf8 } from 'node:buffer';
import { decodeBase64 } from '../util/decode';

/**
 * The writings of a `body` in a history; sections 2.3 to 2.5 do not show which one a service has. `trimmed`: without
 * white space at both ends. `tagged`: as the public server of 2016 does, without white space at both ends, without the
 * text before the first comma, and without any comma. In the order in which they are tried (rule 4).
 */
export const WRITINGS = ['text', 'base64', 'trimmed', 'tagged'] as const;
export type Writing = (typeof WRITINGS)[number];

/** What is known of the writing of an application's histories; `bare`: trimmed or tagged, which is open (rule 17). */
export type KnownWriting = Writing | 'bare';

export const KNOWN_WRITINGS: readonly KnownWriting[] = [...WRITINGS, 'bare'];

export const isLossy = (writing: KnownWriting | undefined): boolean =>
  writing === 'trimmed' || writing === 'tagged' || writing === 'bare';

/** What is read, or written by a history, for bytes that are not UTF-8. */
export const REPLACEMENT = '\ufffd';

/** What any of the usual languages takes for white space: which of them wrote the history is unknown. */
const isSpace = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x09 && code <= 0x0d) ||
  (code >= 0x1c && code <= 0x1f) ||
  (code >= 0x85 && (code === 0x85 || /\s/.test(String.fromCharCode(code))));

function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return from === 0 && to === text.length ? text : text.slice(from, to);
}

/** @param text without white space at both ends */
function untag(text: string): string {
  const comma = text.indexOf(',');
  return comma < 0 ? text : trim(text.slice(comma + 1).replaceAll(',', ''));
}

/**
 * A hash of a text with 40 bits (of cyrb53): arrivals and records are compared by it, and none of it can be read back. That a
 * missed record passes for an arrival, in one of three writings, has a chance of 3 in 2^40 for each pair: of 1,000 missed
 * uploads and five arrivals 1 in 70 million, of 1,000 and 2,000, which is the most, 1 in 180,000.
 */
export function hashOf(text: string): number {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return 4294967296 * (255 & high) + (low >>> 0);
}

export const EMPTY = hashOf('');

/** The hashes of an upload in each writing; that as Base64 is of the decoded bytes. */
export type Hashes = Readonly<Record<Writing, number>>;

/** @param bytes of what may be no text */
export function hashesOf(text: string, bytes?: Buffer): Hashes {
  const whole = hashOf(text);
  const bare = trim(text);
  const trimmed = bare === text ? whole : hashOf(bare);
  const plain = untag(bare);
  const tagged = plain === bare ? trimmed : hashOf(plain);
  return { text: whole, base64: bytes ? hashOfBytes(bytes) : whole, trimmed, tagged };
}

const hashOfBytes = (bytes: Buffer): number =>
  hashOf(bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1'));

/** The hashes of a record: as it is, without white space at its ends, and of the bytes if it is Base64. */
export interface RecordHashes {
  whole: number;
  bare: number;
  decoded?: number;
}

export function recordHashes(body: string): RecordHashes {
  const text = body.toWellFormed();
  const whole = hashOf(text);
  const bare = trim(text);
  const bytes = text === '' ? undefined : decodeBase64(text);
  return {
    whole,
    bare: bare === text ? whole : hashOf(bare),
    ...(bytes && { decoded: hashOfBytes(bytes) }),
  };
}

/** How many bodies a guess is based on. */
export const SAMPLE = 100;

/** Whether all bodies of a history of which nothing is known are Base64, and not by chance (rule 18). */
export function seemsBase64(bodies: readonly unknown[]): boolean {
  const sample = bodies
    .filter((body): body is string => typeof body === 'string' && body !== '')
    .slice(-SAMPLE);
  const decoded = sample.flatMap((body) => decodeBase64(body) ?? []);
  const isAll = sample.length > 0 && decoded.length === sample.length;
  return (
    isAll && (decoded.every((bytes) => isUtf8(bytes)) || sample.some((body) => body.endsWith('=')))
  );
}
