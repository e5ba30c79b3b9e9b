import { isUtf8 } from 'node:buffer';
import { isAnyArrayBuffer } from 'node:util/types';
import { DeviceCloudError, invalidInput, notConfigured, withoutCode } from '../errors';
import {
  DATATYPES,
  PUSH_FORMATS,
  VALUE_DATATYPES,
  type Charset,
  type Datatype,
  type PushFormat,
  type ValueDatatype,
} from '../types';
import { decodeBase64 } from '../util/decode';
import { encodeGbk } from '../util/gbk';
import { oneLine, show, thrownText } from '../util/show';

/**
 * Reads a value from outside, which may throw whatever is done with it: a revoked proxy, or an object
 * with a getter or a `toJSON` that throws. What it throws is not repeated: it may hold anything.
 * @param what the value, for the error
 * @param read may throw a DeviceCloudError of its own, which is passed on
 * @throws DeviceCloudError `INVALID_INPUT` if the value cannot be read
 */
export function readInput<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof DeviceCloudError) throw thrown;
    throw invalidInput(
      `The ${what} cannot be read: a proxy was revoked, or a getter or method of it throws.`,
    );
  }
}

/** The longest key, in characters: it is part of the address. */
const MAX_KEY = 65_536;

/**
 * Reads the key of a callback, as it is registered in the device's firmware (section 4.2, endpoint 8).
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseKey(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_KEY) {
    if (value.isWellFormed()) return value;
    throw invalidInput(
      'The key of the callback has half a surrogate pair, which UTF-8 cannot carry.',
    );
  }
  throw invalidInput(
    `The key of the callback must be text of 1 to ${MAX_KEY} characters, but is ${show(value)}.`,
  );
}

/**
 * Reads one of several words.
 * @param what it is, for the error
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function oneOf<T extends string>(what: string, choices: readonly T[], value: unknown): T {
  const choice = choices.find((known) => known === value);
  if (choice !== undefined) return choice;
  throw invalidInput(
    `${what} must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, but is ${show(value)}.`,
  );
}

const datatypeOf = <T extends string>(choices: readonly [T, ...T[]], value: unknown): T =>
  oneOf('The datatype', choices, value === undefined || value === '' ? choices[0] : value);

/**
 * Reads how uploads are decoded; if nothing is given, `auto-detect`.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export const parseDatatype = (value: unknown): Datatype => datatypeOf(DATATYPES, value);

/**
 * Reads how the value of a callback is decoded; if nothing is given, `auto-detect`.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export const parseValueDatatype = (value: unknown): ValueDatatype =>
  datatypeOf(VALUE_DATATYPES, value);

/** The longest time a Node.js timer can hold, in whole seconds, as milliseconds. */
export const MAX_TIMEOUT = 2_147_483_000;

/**
 * Checks a duration, in milliseconds.
 * @param what the option, as the error names it
 * @throws DeviceCloudError `NOT_CONFIGURED`
 */
export function durationOf(
  duration: number | undefined,
  what: string,
  usual: number,
  least = 1,
): number {
  if (duration === undefined) return usual;
  if (typeof duration === 'number' && duration >= least && duration <= MAX_TIMEOUT) return duration;
  // Who configures a node knows it in seconds.
  throw notConfigured(`${what} must be from ${least / 1000} s to ${MAX_TIMEOUT / 1000} s.`);
}

/**
 * Checks a time-out, in milliseconds.
 * @throws DeviceCloudError `NOT_CONFIGURED`
 */
export const readTimeout = (timeout: number | undefined, usual: number): number =>
  durationOf(timeout, 'The time-out', usual);

/** Reads the signal that ends a call early. @throws DeviceCloudError `INVALID_INPUT` */
export function parseSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined || value === null) return undefined;
  if (readInput('signal', () => value instanceof AbortSignal)) return value as AbortSignal;
  throw invalidInput(`The signal must be an AbortSignal, but is ${show(value)}.`);
}

const DIGITS = /^[0-9]{1,20}$/;

function digits(value: unknown): string | undefined {
  if (typeof value === 'string') return DIGITS.test(value) ? value : undefined;
  return Number.isSafeInteger(value) && (value as number) >= 0 ? String(value) : undefined;
}

/** A text without the zeros that its number does not need: `007` and `7` are one device, `000` is `0`. */
export const dropLeadingZeros = (text: string): string =>
  text.startsWith('0') ? text.replace(/^0+(?=[0-9])/, '') : text;

/** A chip number as {@link parseChipid} returns it; undefined if it is invalid. */
export function chipidOf(value: unknown): string | undefined {
  const chipid = digits(value);
  return chipid === undefined ? undefined : dropLeadingZeros(chipid);
}

/**
 * Reads a chip number: a non-negative integer of at most 20 digits, as a safe integer or as a string
 * of ASCII digits. It stays text from here on, so that it never loses a digit; leading zeros are dropped,
 * so that one device has one queue and one channel however its number is written.
 * @throws DeviceCloudError `INVALID_INPUT` for anything else
 */
export function parseChipid(value: unknown): string {
  const chipid = chipidOf(value);
  if (chipid !== undefined) return chipid;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) {
    throw invalidInput(
      `The chip number ${value} is beyond the safe integers and may have lost digits. ` +
        'Give it as a string of digits.',
    );
  }
  throw invalidInput(
    `The chip number must be an integer of 1 to 20 digits, as a number or a string, but is ${show(value)}.`,
  );
}

/**
 * Reads an array of chip numbers.
 * @throws DeviceCloudError `INVALID_INPUT`, which says which one is wrong
 */
export function parseChipids(value: unknown): string[] {
  return readInput('array of devices', () => {
    if (!Array.isArray(value))
      throw invalidInput(`The devices must be an array of chip numbers, but are ${show(value)}.`);
    return Array.from({ length: value.length }, (_, index) => {
      try {
        return parseChipid(value[index]);
      } catch (error) {
        const why = error instanceof DeviceCloudError ? ` ${withoutCode(error)}` : '';
        throw invalidInput(`Nothing was sent, since element ${index} is wrong.${why}`);
      }
    });
  });
}

/**
 * Reads an application's id, which has the form of a chip number. It stays as the web console shows it,
 * zeros included, since it is signed as it is written. Undefined if it is not one.
 */
export function parseAppid(value: unknown): string | undefined {
  return digits(value);
}

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

/** The JSON of an object, whose own `toJSON` may return anything, or nothing. @throws DeviceCloudError `INVALID_INPUT` */
export function jsonText(what: string, value: object): string {
  let text: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    const isCircular = readInput(
      what,
      () => error instanceof Error && /circular/i.test(error.message),
    );
    throw invalidInput(`The ${what} has no JSON form${isCircular ? ': it is circular' : ''}.`);
  }
  if (typeof text === 'string') return text;
  throw invalidInput(`The ${what} has no JSON form.`);
}

/** Bytes of any kind as a Buffer; anything else as it is. A function node makes them in a realm of its own. */
function asBuffer(value: unknown): unknown {
  if (isAnyArrayBuffer(value)) return Buffer.from(value);
  return ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : value;
}

/** The text of a push in a text format: a Buffer must be UTF-8, anything else is written as text or JSON. */
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
      if (value !== null) return jsonText('message to push', value);
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
    if (message !== value) checkLength(`${what}, as ${format},`, message);
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

/**
 * Calls back if what a callback returned rejects: a promise, or anything with a `then`. The types of
 * callbacks say void, which an async function satisfies: its rejection would end the process.
 */
export function catchRejection(result: unknown, failed: (thrown: unknown) => void): void {
  // Nearly all return nothing, and there is a call for each upload.
  if ((typeof result !== 'object' || result === null) && typeof result !== 'function') return;
  void Promise.resolve(result).then(undefined, failed);
}

const MAX_TEXT = 300;

const warn = (thrown: unknown): void =>
  process.emitWarning(
    `A callback threw: ${oneLine(thrownText(thrown), MAX_TEXT)}.`,
    'DeviceCloudWarning',
  );

/** Calls a user's callback; what it throws, or its promise rejects with, becomes a warning of the process. */
export function isolated(callback: () => unknown): void {
  try {
    catchRejection(callback(), warn);
  } catch (thrown) {
    warn(thrown);
  }
}
