import { decodeBase64 } from './base64';
import { parseJson } from './json';
import type { ServiceInteger } from './records';
import { isObject } from './shapes';

/** An upload as it arrived on a channel (section 6, `data_upload`). */
export interface Upload {
  /** The device, as digits. */
  chipid: string;
  /** Its application, as digits. */
  appid: string;
  /** Unix time in milliseconds. */
  timestamp: number;
  /** The uploaded bytes. */
  body: Buffer;
  /** Set if the upload was missed live and read from the history. */
  replayed?: true;
  /** Its id in the history, if it was read from there. */
  id?: ServiceInteger;
}

/** What a frame was: an upload, something else that is fine, or a fault with a word for the log. */
export type Frame = { upload: Upload } | { fault: string } | { ignored: true };

/** A Unix time in seconds stays below this until the year 5138; in milliseconds it is above since 1973. */
const SECONDS_BELOW = 100_000_000_000;

const UNIX_TIME = /^\d{1,16}$/;

function unixTime(value: unknown): number | undefined {
  if (typeof value !== 'number' && (typeof value !== 'string' || !UNIX_TIME.test(value))) {
    return undefined;
  }
  const time = Number(value);
  if (!Number.isFinite(time) || time < 0) return undefined;
  return time < SECONDS_BELOW ? time * 1000 : time;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

/**
 * Reads one frame of a channel. Types that section 6 does not name are ignored, since the service may
 * grow; an upload that is not whole, or is another device's, is a fault.
 * @param chipid the device that the channel is for
 */
export function readFrame(data: string, chipid: string): Frame {
  let event: unknown;
  try {
    event = parseJson(data);
  } catch {
    return { fault: 'a frame is not JSON' };
  }
  if (!isObject(event)) return { fault: 'a frame is not a JSON object' };
  if (typeof event['type'] !== 'string') return { fault: 'a frame has no type' };
  if (event['type'] !== 'data_upload') return { ignored: true };
  const { body } = event;
  if (typeof body !== 'string') return { fault: 'an upload has no body' };
  const bytes = decodeBase64(body);
  if (!bytes) return { fault: "an upload's body is not Base64" };
  const from = text(event['chipid']);
  if (from === undefined) return { fault: 'an upload has no chipid' };
  if (from !== chipid) return { fault: "an upload is another device's" };
  const appid = text(event['appid']);
  if (appid === undefined) return { fault: 'an upload has no appid' };
  const timestamp = unixTime(event['timestamp']);
  if (timestamp === undefined) return { fault: 'an upload has no timestamp' };
  return { upload: { chipid, appid, timestamp, body: bytes } };
}
