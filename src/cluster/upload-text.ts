import type { ServiceInteger, Upload } from '../types';
import { decodeBase64 } from '../util/base64';

/** Longer than any upload in Base64: an answer of a history has at most 64 MiB, a frame of a channel 16. */
const LONGEST = 96 * 1024 * 1024;

const DIGITS = /^\d{1,20}$/;
/** The longest id, and the longest type of an event. */
const MAX_TEXT = 64;

/** An upload as text, for the queue and for other processes. */
export function uploadToText(upload: Upload): string {
  return JSON.stringify({ ...upload, chipid: undefined, body: upload.body.toString('base64') });
}

const isId = (id: unknown): id is ServiceInteger =>
  typeof id === 'number' ? Number.isFinite(id) : typeof id === 'string' && id.length <= MAX_TEXT;

const isType = (type: unknown): type is string =>
  typeof type === 'string' && type.length <= MAX_TEXT;

/**
 * Reads what {@link uploadToText} has written.
 * @returns undefined for anything else: others may write to the engine, too
 */
export function uploadFromText(chipid: string, text: string): Upload | undefined {
  if (text.length > LONGEST || !DIGITS.test(chipid)) return undefined;
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { appid, timestamp, body, replayed, id, altered, type } = value as Record<string, unknown>;
  if (typeof appid !== 'string' || !DIGITS.test(appid) || !Number.isSafeInteger(timestamp))
    return undefined;
  const bytes = typeof body === 'string' ? decodeBase64(body) : undefined;
  if (!bytes || (id !== undefined && !isId(id))) return undefined;
  if (type !== undefined && !isType(type)) return undefined;
  return {
    ...{ chipid, appid, timestamp: timestamp as number, body: bytes },
    ...(replayed === true && { replayed }),
    ...(altered === true && { altered }),
    ...(type !== undefined && { type }),
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
