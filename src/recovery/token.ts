import { invalidInput } from '../errors';
import type { Upload } from '../types';
import { isObject } from '../util/json';
import { hashesOf, recordHashes, WRITINGS } from './writing';
import { QUARTER } from './zone';

/** What a token names: an upload of a device, emitted by a listener. */
export interface Token {
  appid: string;
  /** The listener. */
  node: string;
  chipid: string;
  /** A number of the listener's run, and one of the upload within it. */
  run: number;
  serial: number;
  /** Unix time in milliseconds. */
  timestamp: number;
  /** Whether it was read from the history. */
  replayed: boolean;
  /** The hashes of its writings. */
  hashes: number[];
}

const FORMAT = 1;

/** How far apart the times of an upload and its record may be, in milliseconds. */
const SAME_TIME = 5000;

/** All that a body may be in a history, and, of one that is from there, all that it may be made of. */
function allHashes({ body, replayed }: Upload): number[] {
  const hashes = hashesOf(body.toString(), body);
  const own = WRITINGS.map((writing) => hashes[writing]);
  if (!replayed) return [...new Set(own)];
  const { whole, bare, decoded = whole } = recordHashes(body.toString());
  return [...new Set([hashes.text, hashes.base64, whole, bare, decoded])];
}

export function writeToken(
  upload: Upload,
  of: Pick<Token, 'appid' | 'node' | 'run' | 'serial'>,
): string {
  const { chipid, timestamp, replayed = false } = upload;
  const { appid, node, run, serial } = of;
  const parts = [FORMAT, appid, node, chipid, run, serial, timestamp, Number(replayed)];
  return Buffer.from(JSON.stringify([...parts, ...allHashes(upload)])).toString('base64url');
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** @throws DeviceCloudError `INVALID_INPUT` if the text is not a token, or the token is of another application */
export function readToken(text: unknown, appid: string): Token {
  const token = isText(text) && /^[\w-]{1,2000}$/.test(text) ? parse(text) : undefined;
  if (!token)
    throw invalidInput(
      'msg.ack must be the text that came with the upload, unchanged. Only a listener that waits for acknowledgements adds it.',
    );
  if (token.appid !== appid)
    throw invalidInput(
      `msg.ack is of an upload of application ${token.appid}, but this node is set to application ${appid}.`,
    );
  return token;
}

function parse(text: string): Token | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [format, appid, node, chipid, run, serial, timestamp, replayed, ...hashes] =
    parts as unknown[];
  if (format !== FORMAT || !isText(appid) || !isText(node) || !isText(chipid)) return undefined;
  if (![run, serial, timestamp, replayed].every(isNumber) || !hashes.every(isNumber))
    return undefined;
  const numbers = { run, serial, timestamp } as Pick<Token, 'run' | 'serial' | 'timestamp'>;
  return { ...numbers, appid, node, chipid, replayed: replayed === 1, hashes };
}

/**
 * Whether a token of an earlier run names an upload that the history has given back: then it is another copy.
 * @param isZoneKnown otherwise times may differ by quarters of an hour
 */
export function isSameUpload(token: Token, upload: Upload, isZoneKnown: boolean): boolean {
  const apart = Math.abs(upload.timestamp - token.timestamp);
  const rest =
    isZoneKnown && !token.replayed ? apart : Math.min(apart % QUARTER, QUARTER - (apart % QUARTER));
  return rest <= SAME_TIME && allHashes(upload).some((hash) => token.hashes.includes(hash));
}

/** How often an upload has been emitted that a position was kept with. */
export const triesOf = (kept: unknown): number => {
  const tries: unknown = isObject(kept) ? kept['tries'] : undefined;
  return isNumber(tries) && tries >= 0 ? Math.floor(tries) : 1;
};
