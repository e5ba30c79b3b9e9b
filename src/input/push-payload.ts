import { isUtf8 } from 'node:buffer';
import { decodeBase64 } from '../util/base64';
import { invalidInput } from '../errors';
import { PUSH_FORMATS, type PushFormat } from '../types';
import { show } from '../util/show';
import { readInput } from './readable';

const HEX = /^[0-9a-f]*$/i;

/**
 * Reads the format of a push (section 4.2, endpoint 3).
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseFormat(value: unknown): PushFormat {
  const format = PUSH_FORMATS.find((known) => known === value);
  if (format) return format;
  throw invalidInput(`The format must be MSG, HEX, AT, LUA or B64, but is ${show(value)}.`);
}

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
 * @param value text, number, boolean, Buffer or object (as JSON); HEX and B64 accept text or a Buffer
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function pushMessage(value: unknown, format: PushFormat): string {
  return readInput('message to push', () => {
    if (format === 'HEX') return hexOf(value);
    return format === 'B64' ? base64Of(value) : textOf(value, format);
  });
}

/**
 * Makes the bytes of a push over the channel, which accepts data only (section 6, `msgpush`).
 * @throws DeviceCloudError `INVALID_INPUT`, also for the formats AT and LUA, which are commands
 */
export function pushBytes(value: unknown, format: PushFormat): Buffer {
  switch (format) {
    case 'MSG':
      return Buffer.from(pushMessage(value, format), 'utf8');
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
