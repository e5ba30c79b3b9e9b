import type { ServiceInteger, Upload } from '../types';

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
