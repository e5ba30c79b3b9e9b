import type { ServiceInteger, Upload } from '../types';
import { decodeBase64 } from '../util/base64';

/** Longer than any upload of a channel: a frame has at most 16 MiB. */
const LONGEST = 24 * 1024 * 1024;

const DIGITS = /^\d{1,20}$/;
const MAX_ID = 64;

/** An upload as text, for the queue and for other processes. */
export function uploadToText({ appid, timestamp, body, replayed, id }: Upload): string {
  const base64 = body.toString('base64');
  return JSON.stringify({ appid, timestamp, body: base64, ...(replayed && { replayed }), id });
}

const isId = (id: unknown): id is ServiceInteger =>
  typeof id === 'number' ? Number.isFinite(id) : typeof id === 'string' && id.length <= MAX_ID;

/**
 * Reads what {@link uploadToText} has written.
 * @returns undefined for anything else: others may write to the engine, too
 */
export function uploadFromText(chipid: string, text: string): Upload | undefined {
  if (text.length > LONGEST || !DIGITS.test(chipid)) return undefined;
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { appid, timestamp, body, replayed, id } = value as Record<string, unknown>;
  if (typeof appid !== 'string' || !DIGITS.test(appid) || !Number.isSafeInteger(timestamp))
    return undefined;
  const bytes = typeof body === 'string' ? decodeBase64(body) : undefined;
  if (!bytes || (id !== undefined && !isId(id))) return undefined;
  return {
    ...{ chipid, appid, timestamp: timestamp as number, body: bytes },
    ...(replayed === true && { replayed }),
    ...(id !== undefined && { id }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
