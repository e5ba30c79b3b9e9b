import type { ErrorCode } from '../errors';
import { uploadText } from '../util/decode';
import { oneLine } from '../util/show';
import type { Charset, CommandWhat, ServiceInteger, Upload } from '../types';

/*
 * What each device of an application did of late: its latest upload, its last uploads and commands, for people who look at it. The
 * beginning of an upload is kept as the Base64 text that came in its frame, and decoded only to be shown.
 */

/** The most that is kept of a body, in bytes. */
export const MAX_BODY = 16 * 1024;

/** How the latest upload of a device came: live, or recovered after a gap. */
export type LatestSource = 'live' | 'replayed';

/** The latest upload of a device. Its bytes are the caller's own. */
export interface LatestUpload {
  /** The device, as digits. */
  chipid: string;
  /** What was uploaded, at most the first 16 KiB of it. */
  body: Buffer;
  /** Whether the body was longer. */
  truncated: boolean;
  /** Unix time in milliseconds, by the service's clock. */
  timestamp: number;
  /** Milliseconds since then. */
  age: number;
  /** How it came. */
  source: LatestSource;
  /** Set if the history does not keep what was uploaded: see {@link Upload}. */
  altered?: true;
}

/** The upload that is kept of a device. It is overwritten: a new object for each upload would cost more CPU. */
export class KeptUpload {
  /**
   * The bytes in Base64. A Buffer is shared with the listener's flow, which may change it, and keeps the whole
   * of its pool alive; the text that came in the frame does neither, and costs no copy.
   */
  base64 = '';
  truncated = false;
  timestamp = 0;
  id: ServiceInteger | undefined = undefined;
  altered: true | undefined = undefined;
  source: LatestSource = 'live';
  /** When it came, in ms by this clock. */
  at = 0;
  /** How often the device's channel had been connected. */
  connection = 0;

  /** @param base64 all of the body, if that is known */
  set(upload: Upload, source: LatestSource, at: number, connection: number, base64?: string): void {
    const { body } = upload;
    this.source = source;
    this.at = at;
    this.connection = connection;
    this.truncated = body.length > MAX_BODY;
    const isWhole = base64 !== undefined && !this.truncated;
    this.base64 = isWhole ? base64 : body.toString('base64', 0, MAX_BODY);
    this.timestamp = upload.timestamp;
    this.id = upload.id;
    this.altered = upload.altered;
  }

  /** @param now by the service's clock */
  toLatest(chipid: string, now: number): LatestUpload {
    const { truncated, timestamp, source, altered } = this;
    const body = Buffer.from(this.base64, 'base64');
    const age = Math.max(0, now - timestamp);
    return { chipid, body, truncated, timestamp, age, source, ...(altered && { altered }) };
  }
}

/** Further ahead than this a time is not the service's, in milliseconds: its zone is set wrong. */
const AHEAD = 60_000;

const seconds = (time: number): number => Math.floor(time / 1000);

/** Compares ids of a history. @returns undefined if one of them is unknown or not a number */
function idsInOrder(
  before: ServiceInteger | undefined,
  after: ServiceInteger | undefined,
): boolean | undefined {
  if (!/^\d{1,20}$/.test(String(before)) || !/^\d{1,20}$/.test(String(after))) return undefined;
  return BigInt(String(before)) <= BigInt(String(after));
}

/**
 * Whether an upload of the history is later than the latest that is known. A live one is always later.
 * @param connection how often the channel has been connected by now
 * @param now this clock, in ms
 */
export function isLater(
  upload: Upload,
  latest: KeptUpload | undefined,
  connection: number,
  now: number,
): boolean {
  if (!latest) return true;
  const isLive = latest.source === 'live';
  const present = latest.timestamp + (now - latest.at);
  const isCredible = !isLive || upload.timestamp <= present + AHEAD;
  // The history knows seconds alone.
  const difference = isCredible ? seconds(upload.timestamp) - seconds(latest.timestamp) : 0;
  if (difference !== 0) return difference > 0;
  // What was missed came after what arrived before the gap, and before what arrived after it.
  if (isLive) return latest.connection < connection;
  return idsInOrder(latest.id, upload.id) ?? true;
}

/** Characters of an upload that are shown. */
export const LONGEST_TEXT = 200;

/** How many characters of Base64 encode a number of bytes. */
const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** A character of the text has at most four bytes. */
const LONGEST_BASE64 = base64Length(4 * LONGEST_TEXT);
const LONGEST_BYTES = (LONGEST_BASE64 / 4) * 3;

/** An upload as it is shown. */
export interface RecentUpload {
  /** When it came, in ms by this clock; if it did not come live, when it was uploaded, by the service's clock. */
  at: number;
  /** The beginning of what was uploaded, on one line; `0x` and hexadecimal if it is not text. */
  text: string;
  /** Bytes of what was uploaded. */
  size: number;
  /** How it came. */
  source: LatestSource;
  /** All of what was uploaded; left out if that is more than some 800 bytes. */
  body?: Buffer;
}

/** A command to a device, without what it sends. */
export interface RecentCommand extends CommandWhat {
  /** When it was called, in ms by this clock. */
  at: number;
  /** `OK`, or the code of its error; null while it waits or runs. */
  outcome: 'OK' | ErrorCode | 'ERROR' | null;
  /** If it failed: what happened, and what to do. */
  message?: string;
  /** Milliseconds from the call to its end; null before. */
  took: number | null;
}

/** What a device did of late, the newest first. */
export interface Recent {
  uploads: RecentUpload[];
  commands: RecentCommand[];
}

/** What is kept of an upload: the beginning in Base64 in place of the text. */
export type UploadEntry = Omit<RecentUpload, 'text' | 'body'> & { readonly base64: string };

/** The text of the beginning of bytes, whose last character may be cut off; undefined if it is no text. */
function beginningText(bytes: Buffer, charset: Charset): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: true,
    });
  } catch {
    return uploadText(bytes, charset) ?? uploadText(bytes.subarray(0, -1), charset);
  }
}

/**
 * The beginning of what was uploaded, on one line; `0x` and hexadecimal if it is not text.
 * @param base64 what was uploaded, or at least `4/3` of four bytes for each character of its beginning
 * @param isWhole whether that is all
 * @param longest characters
 */
export function shortText(
  base64: string,
  isWhole: boolean,
  longest: number,
  charset: Charset,
): string {
  const length = base64Length(4 * longest);
  const isAll = isWhole && base64.length <= length;
  const bytes = Buffer.from(isAll ? base64 : base64.slice(0, length), 'base64');
  const known = isAll ? uploadText(bytes, charset) : beginningText(bytes, charset);
  const text = known ?? `0x${bytes.toString('hex')}`;
  const line = text.replace(/\s+/g, ' ').trim();
  if (isAll && line.length <= longest) return oneLine(line, longest);
  return `${oneLine(line.slice(0, longest - 1), longest)}…`;
}

/**
 * What is kept of an upload that has come.
 * @param at now
 * @param base64 all of it, as it came in its frame, if that is known
 */
export function uploadEntry(
  { body, timestamp }: Upload,
  source: LatestSource,
  at: number,
  base64?: string,
): UploadEntry {
  const isShort = base64 !== undefined && base64.length <= LONGEST_BASE64;
  return {
    at: source === 'live' ? at : timestamp,
    // A copy of its own: a slice of the text would keep all of it in memory.
    base64: isShort ? base64 : body.toString('base64', 0, LONGEST_BYTES),
    size: body.length,
    source,
  };
}

/** The newest first. @param charset of text that is not valid UTF-8 */
export const shownUploads = (uploads: readonly UploadEntry[], charset: Charset): RecentUpload[] =>
  uploads.toReversed().map(({ at, base64, size, source }) => {
    const isWhole = base64.length * 3 >= size * 4;
    const text = shortText(base64, isWhole, LONGEST_TEXT, charset);
    return { at, text, size, source, ...(isWhole && { body: Buffer.from(base64, 'base64') }) };
  });
