import { PUSH_FORMATS, type PushFormat } from '../../types';
import { decodeBase64, DEFAULT_FORMAT } from '../assumptions';
import { badRequest } from '../transport/refusal';

const HEX = /^(?:[0-9a-fA-F]{2})*$/;

const text = (message: string): Buffer => Buffer.from(message, 'utf8');

function hex(message: string): Buffer {
  if (!HEX.test(message)) throw badRequest('message is not pairs of hexadecimal digits');
  return Buffer.from(message, 'hex');
}

function base64(message: string): Buffer {
  const bytes = decodeBase64(message);
  if (!bytes) throw badRequest('message is not Base64');
  return bytes;
}

const BYTES: Record<PushFormat, (message: string) => Buffer> = {
  MSG: text,
  AT: text,
  LUA: text,
  HEX: hex,
  B64: base64,
};

/** Reads a push format (section 4.2.3). */
export function readFormat(format: unknown): PushFormat {
  if (format === undefined) return DEFAULT_FORMAT;
  const known = PUSH_FORMATS.find((name) => name === format);
  if (!known) throw badRequest(`format must be one of ${PUSH_FORMATS.join(', ')}`);
  return known;
}

export const messageBytes = (message: string, format: PushFormat): Buffer => BYTES[format](message);
