import type { ErrorCode } from '../errors';
import { uploadText } from '../util/decode';
import { oneLine } from '../util/show';
import type { Charset, CommandWhat, Upload } from '../types';

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

/**
 * What is kept of an upload. The bytes are in Base64: a Buffer is shared with the listener's flow, which may change it, and keeps the
 * whole of its pool alive; the text that came in the frame does neither, and costs no copy.
 */
export class KeptUpload {
  readonly base64: string;
  readonly size: number;
  /** Whether all of the body is kept. */
  readonly isWhole: boolean;
  readonly timestamp: number;
  readonly altered: true | undefined;

  /**
   * @param at when it came, in ms by this clock
   * @param connection how often the device's channel had been connected
   * @param most bytes that are kept
   * @param base64 all of the body, if that is known
   */
  constructor(
    { body, timestamp, altered }: Upload,
    readonly source: LatestSource,
    readonly at: number,
    readonly connection: number,
    most: number,
    base64?: string,
  ) {
    this.size = body.length;
    this.timestamp = timestamp;
    this.altered = altered;
    this.isWhole = body.length <= most;
    // A copy of its own: a slice of the text would keep all of it in memory.
    this.base64 = (this.isWhole ? base64 : undefined) ?? body.toString('base64', 0, most);
  }

  /** @param now by the service's clock */
  toLatest(chipid: string, now: number): LatestUpload {
    const { base64, isWhole, timestamp, source, altered } = this;
    const body = Buffer.from(base64, 'base64');
    const age = Math.max(0, now - timestamp);
    const latest = { chipid, body, truncated: !isWhole, timestamp, age, source };
    return altered ? { ...latest, altered } : latest;
  }

  /** @param charset of text that is not valid UTF-8 */
  toRecent(charset: Charset): RecentUpload {
    const { base64, size, source, isWhole } = this;
    return {
      at: source === 'live' ? this.at : this.timestamp,
      text: shortText(base64, isWhole, LONGEST_TEXT, charset),
      size,
      source,
      ...(isWhole && { body: Buffer.from(base64, 'base64') }),
    };
  }
}

/** Further ahead than this a time is not the service's, in milliseconds: its zone is set wrong. */
const AHEAD = 60_000;

const seconds = (time: number): number => Math.floor(time / 1000);

/**
 * Whether an upload of the history is later than the latest that is known. A live one is always later.
 * @param connection how often the channel has been connected by now
 * @param now this clock, in ms
 */
export function isLater(
  { timestamp }: Upload,
  latest: KeptUpload | undefined,
  connection: number,
  now: number,
): boolean {
  if (!latest) return true;
  const isLive = latest.source === 'live';
  const isCredible = !isLive || timestamp <= latest.timestamp + (now - latest.at) + AHEAD;
  // The history knows seconds alone.
  const difference = isCredible ? seconds(timestamp) - seconds(latest.timestamp) : 0;
  if (difference !== 0) return difference > 0;
  // What was missed came after what arrived before the gap, and before what arrived after it.
  return !isLive || latest.connection < connection;
}

/** Characters of an upload that are shown. */
const LONGEST_TEXT = 200;

/** How many characters of Base64 encode a number of bytes. */
const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** The most that is kept of a body of which only a text is shown, in bytes: a character has at most four. */
export const SHOWN_BODY = (base64Length(4 * LONGEST_TEXT) / 4) * 3;

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
