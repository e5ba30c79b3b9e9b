import { decodeBase64, decodeLenientBase64 } from '../util/decode';
import { dropLeadingZeros } from './values';
import type { JsonObject, Upload } from '../types';
import { isObject, isSpace, parseJson, startOfJson } from '../util/json';

/**
 * What a frame is: an upload, a fault as text for the log, or something else, which is ignored. Flaws
 * are texts for the log about an upload that is complete but has an invalid field. Its body is also
 * kept in strict Base64: a string cannot change, but a listener may change the bytes.
 */
export type Frame =
  | { upload: Upload; base64: string; flaws: readonly string[] }
  | { fault: string }
  | { ignored: true };

export interface FrameOrigin {
  /** Its device, as digits without leading zeros. */
  chipid: string;
  /** Its application, as digits. */
  appid: string;
}

const NO_TIME = 'An upload has no valid timestamp: the time of its arrival is used instead.';
const NO_APPID = "An upload has no valid appid: the channel's is used instead.";

/** A Unix time in seconds stays below this until the year 5138; in milliseconds it is above since 1973. */
const SECONDS_BELOW = 100_000_000_000;
/** A Unix time in milliseconds stays below this until then. */
const MILLISECONDS_BELOW = 1000 * SECONDS_BELOW;

const UNIX_TIME = /^\d{1,20}(?:\.\d{1,20})?$/;
const DIGITS = /^\d{1,20}$/;

/** The shortest frame that has a type. */
const SHORTEST = '{"type":""}'.length;
const OPENING_BRACE = 0x7b;

/** Whole milliseconds since 1970; undefined if the value is not a time in either unit. */
function unixTime(value: unknown): number | undefined {
  if (typeof value === 'string' ? !UNIX_TIME.test(value) : typeof value !== 'number') {
    return undefined;
  }
  const time = Number(value);
  // Negated, since NaN compares false.
  if (!(time >= 0 && time < MILLISECONDS_BELOW)) return undefined;
  return Math.round(time < SECONDS_BELOW ? time * 1000 : time);
}

/**
 * An id as digits without leading zeros, from text or a number; undefined if it is not an id.
 * @param usual the channel's own, which nearly every upload has
 */
function idOf(value: unknown, usual: string): string | undefined {
  if (value === usual) return usual;
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && DIGITS.test(text) ? dropLeadingZeros(text) : undefined;
}

/** Whether the bytes can be a JSON object, from the first byte that is not white space. */
function beginsObject(data: Buffer): boolean {
  let at = startOfJson(data);
  while (isSpace(data[at])) at++;
  return data[at] === OPENING_BRACE;
}

function readUpload(event: JsonObject, origin: FrameOrigin, now: () => number): Frame {
  const { body } = event;
  if (typeof body !== 'string') return { fault: 'An upload has no body.' };
  const strict = decodeBase64(body);
  const bytes = strict ?? decodeLenientBase64(body);
  if (!bytes) return { fault: "An upload's body is not Base64." };
  // Never assumed, although the channel is one device's: the upload may be another's.
  const from = idOf(event['chipid'], origin.chipid);
  if (from === undefined) return { fault: 'An upload has no valid chipid.' };
  if (from !== origin.chipid) return { fault: "An upload is another device's." };
  const appid = idOf(event['appid'], origin.appid);
  const timestamp = unixTime(event['timestamp']);
  const flaws: string[] = [];
  if (appid === undefined) flaws.push(NO_APPID);
  if (timestamp === undefined) flaws.push(NO_TIME);
  const upload = {
    chipid: origin.chipid,
    appid: appid ?? origin.appid,
    timestamp: timestamp ?? now(),
    body: bytes,
  };
  return { upload, base64: strict ? body : bytes.toString('base64'), flaws };
}

/**
 * Reads one frame of a channel. `data_upload` is the type that section 6 names; the public server of 2016 sends
 * `uart_trans` with the same fields. Other types are ignored, since the service may grow. An upload without its
 * bytes or its device, or of another device, is a fault; an upload whose timestamp or appid is missing or invalid
 * is emitted all the same. A frame that cannot be an event is recognized by its first bytes and its size, so that a
 * flood of them costs little.
 * @param data the frame's text as UTF-8
 * @param now this machine's clock, in ms: the time of an upload without one
 */
export function readFrame(data: Buffer, origin: FrameOrigin, now: () => number): Frame {
  if (!beginsObject(data)) return { fault: 'A frame is not a JSON object.' };
  if (data.length < SHORTEST) return { fault: 'A frame is too short to have a type.' };
  let event: unknown;
  try {
    event = parseJson(data);
  } catch {
    return { fault: 'A frame is not JSON.' };
  }
  if (!isObject(event)) return { fault: 'A frame is not a JSON object.' };
  if (typeof event['type'] !== 'string') return { fault: 'A frame has no type.' };
  const { type } = event;
  if (type !== 'data_upload' && type !== 'uart_trans') return { ignored: true };
  const frame = readUpload(event, origin, now);
  if (type === 'uart_trans' && 'upload' in frame) frame.upload.type = type;
  return frame;
}
