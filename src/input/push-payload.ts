import { isUtf8 } from 'node:buffer';
import { isAnyArrayBuffer } from 'node:util/types';
import { decodeBase64 } from '../util/base64';
import { invalidInput } from '../errors';
import { PUSH_FORMATS, type Charset, type PushFormat } from '../types';
import { encodeGbk } from '../util/gbk';
import { show } from '../util/show';
import { oneOf, readInput } from './values';

const HEX = /^[0-9a-f]*$/i;

const MEBIBYTE = 1024 * 1024;

/**
 * The longest message or body that is sent, in bytes. Encoded as a form it may be three times as long, and V8 has no texts of
 * 512 MiB.
 */
const MAX_SENT = 64 * MEBIBYTE;

/** @throws DeviceCloudError `INVALID_INPUT` if a text, or what it is made of, is too long to be sent */
export function checkLength(what: string, value: unknown): void {
  const bytes =
    typeof value === 'string'
      ? // A text has at least as many bytes as characters, and counting those takes no time.
        Math.max(value.length, value.length <= MAX_SENT ? Buffer.byteLength(value) : 0)
      : value instanceof Uint8Array
        ? value.length
        : 0;
  if (bytes <= MAX_SENT) return;
  throw invalidInput(`The ${what} must have at most ${MAX_SENT / MEBIBYTE} MiB. Nothing was sent.`);
}

/**
 * Reads the format of a push (section 4.2, endpoint 3).
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export const parseFormat = (value: unknown): PushFormat => oneOf('The format', PUSH_FORMATS, value);

function jsonText(value: object): string {
  let text: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    const why = error instanceof Error && /circular/i.test(error.message) ? ': it is circular' : '';
    throw invalidInput(`The message to push has no JSON form${why}.`);
  }
  if (typeof text === 'string') return text;
  throw invalidInput('The message to push has no JSON form.');
}

/** Bytes of any kind as a Buffer; anything else as it is. A function node makes them in a realm of its own. */
function asBuffer(value: unknown): unknown {
  if (isAnyArrayBuffer(value)) return Buffer.from(value);
  return ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : value;
}

/** Bytes of the text formats: a Buffer must be UTF-8, anything else is written as text or JSON. */
function textOf(value: unknown, format: PushFormat): string {
  if (value instanceof Uint8Array) {
    if (isUtf8(value)) return Buffer.from(value).toString('utf8');
    throw invalidInput(
      `The Buffer to push is not UTF-8 text, which the format ${format} takes. Use HEX or B64 for binary data.`,
    );
  }
  switch (typeof value) {
    case 'string':
      if (value.isWellFormed()) return value;
      throw invalidInput('The text to push has half a surrogate pair, which UTF-8 cannot carry.');
    case 'number':
      if (Number.isFinite(value)) return String(value);
      break;
    case 'boolean':
      return String(value);
    case 'object':
      if (value !== null) return jsonText(value);
      break;
    default:
      break;
  }
  throw invalidInput(
    `The message to push must be text, a number, a boolean, a Buffer or an object, but is ${show(value)}.`,
  );
}

function hexOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value !== 'string') {
    throw invalidInput(`HEX takes a string of hex digits or a Buffer, but got ${show(value)}.`);
  }
  const digits = value.replaceAll(' ', '');
  if (!HEX.test(digits)) {
    throw invalidInput(`HEX takes hex digits 0-9 and a-f in pairs, but got ${show(value)}.`);
  }
  if (digits.length % 2 !== 0) {
    throw invalidInput(
      `HEX takes hex digits in pairs, but ${show(value)} has ${digits.length} of them.`,
    );
  }
  return digits;
}

function base64Of(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value !== 'string') {
    throw invalidInput(`B64 takes a string of Base64 or a Buffer, but got ${show(value)}.`);
  }
  if (decodeBase64(value)) return value;
  throw invalidInput(`B64 takes padded Base64, but got ${show(value)}.`);
}

/**
 * Makes the `message` of a push over HTTP.
 * @param given text, number, boolean, bytes or object (as JSON); HEX and B64 accept text or bytes
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function pushMessage(given: unknown, format: PushFormat): string {
  const what = 'message to push';
  return readInput(what, () => {
    const value = asBuffer(given);
    checkLength(what, value);
    const message =
      format === 'HEX' ? hexOf(value) : format === 'B64' ? base64Of(value) : textOf(value, format);
    // Another form of it may be longer.
    if (message !== value) checkLength(what, message);
    return message;
  });
}

/** Encodes text. @throws DeviceCloudError `INVALID_INPUT` that names a character that the charset does not have */
function encodeText(text: string, charset: Charset): Buffer {
  if (charset === 'utf-8') return Buffer.from(text, 'utf8');
  const encoded = encodeGbk(text);
  if ('bytes' in encoded) return encoded.bytes;
  const code = encoded.foreign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  throw invalidInput(
    `The text to push has the character ${show(encoded.foreign)} (U+${code}), which GBK does not have. ` +
      'Push it as HEX or B64, or set the charset of the application to UTF-8.',
  );
}

/**
 * Makes the bytes of a push over the channel, which accepts data only (section 6, `msgpush`).
 * @param charset of text, default `utf-8`
 * @throws DeviceCloudError `INVALID_INPUT`, also for the formats AT and LUA, which are commands
 */
export function pushBytes(value: unknown, format: PushFormat, charset: Charset = 'utf-8'): Buffer {
  switch (format) {
    case 'MSG':
      return encodeText(pushMessage(value, format), charset);
    case 'HEX':
      return Buffer.from(pushMessage(value, format), 'hex');
    case 'B64':
      return Buffer.from(pushMessage(value, format), 'base64');
    default:
      throw invalidInput(
        `The channel takes no commands: push the format ${format} over HTTP instead.`,
      );
  }
}
