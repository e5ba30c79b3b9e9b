import { isUtf8 } from 'node:buffer';
import { decodeGbk } from './gbk';
import { isSpace, JsonLimitError, parseJson, startOfJson } from './json';
import type { Charset, Datatype, ValueDatatype } from '../types';

const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/** Returns the JSON object or array that the bytes are, or undefined. */
function objectOrArray(bytes: Buffer): object | undefined {
  let first = startOfJson(bytes);
  while (isSpace(bytes[first])) first++;
  if (bytes[first] !== OPEN_BRACE && bytes[first] !== OPEN_BRACKET) return undefined;
  try {
    return parseJson(bytes) as object;
  } catch {
    return undefined;
  }
}

/** Control characters other than white space, which no text has. */
const isControl = (byte: number): boolean => byte < 9 || (byte > 13 && byte < 32);

/**
 * Text as C has it, without the NUL at its end or the NULs that fill its buffer, and without white space behind these. Bytes
 * that are no text, with or without them, stay as they are.
 */
function withoutPadding(bytes: Buffer): Buffer {
  let end = bytes.length;
  for (let at = end - 1; at >= 0; at--) {
    if (bytes[at] === 0) end = at;
    else if (!isSpace(bytes[at])) break;
  }
  const text = bytes.subarray(0, end);
  return end === bytes.length || end === 0 || text.some(isControl) ? bytes : text;
}

/**
 * The text of the bytes, without NULs at its end, in UTF-8 or, if they are not, in the charset.
 * @returns undefined if they are text in neither
 */
export function uploadText(body: Buffer, charset: Charset): string | undefined {
  const bytes = withoutPadding(body);
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return charset === 'gbk' ? decodeGbk(bytes) : undefined;
}

/** The same text in UTF-8; the bytes themselves if they are not in the charset. */
function inUtf8(bytes: Buffer, charset: Charset): Buffer {
  if (charset === 'utf-8' || isUtf8(bytes)) return bytes;
  const text = decodeGbk(bytes);
  return text === undefined ? bytes : Buffer.from(text, 'utf8');
}

/**
 * Decodes the bytes of an upload.
 * `auto-detect` gives a JSON object or array, else text if the bytes are valid UTF-8, else the bytes. Text and JSON have no NULs
 * at their end.
 * In JSON an integer that a number cannot hold exactly, such as the number of a SIM card, becomes a string.
 * JSON of more than 100 levels, a million arrays and objects, or five million fields is text.
 * @param charset of text that is not valid UTF-8, default `utf-8`: there is no such text
 * @throws SyntaxError if the datatype is `json` and the bytes are not JSON or exceed these limits
 */
export function decodeUpload(
  bytes: Buffer,
  datatype: Datatype,
  charset: Charset = 'utf-8',
): unknown {
  if (datatype === 'buffer') return bytes;
  if (datatype === 'base64') return bytes.toString('base64');
  const text = inUtf8(withoutPadding(bytes), charset);
  if (datatype === 'utf8') return text.toString('utf8');
  if (datatype === 'json') return parseJson(text);
  return isUtf8(text) ? (objectOrArray(text) ?? text.toString('utf8')) : bytes;
}

/**
 * Decodes the value of a callback (section 4.2, endpoint 8): the public server of 2016 answers the bytes that the
 * callback returned. `auto-detect` gives any JSON value, otherwise text.
 * @throws SyntaxError if the datatype is `json` and the bytes are not JSON, or if they are JSON beyond the limits
 */
export function decodeValue(bytes: Buffer, datatype: ValueDatatype): unknown {
  const text = withoutPadding(bytes);
  if (datatype === 'utf8') return text.toString('utf8');
  try {
    return parseJson(text);
  } catch (error) {
    if (datatype === 'json' || error instanceof JsonLimitError) throw error;
    return text.toString('utf8');
  }
}

/**
 * Decodes Base64 strictly: the standard alphabet, padded, no white space. `Buffer.from` alone never
 * fails: it skips unknown characters, which the length then lacks, and may take the low byte of a
 * character beyond ASCII.
 * @returns undefined if the text is not Base64
 */
export function decodeBase64(text: string): Buffer | undefined {
  const { length } = text;
  if (length % 4 !== 0 || text.includes('-') || text.includes('_')) return undefined;
  if (Buffer.byteLength(text) !== length) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === (length / 4) * 3 - padding ? bytes : undefined;
}

/** Another alphabet (RFC 4648, section 5), line ends, and padding that is left out. */
const VARIATIONS = /[-_\r\n]/g;
const STANDARD: Readonly<Record<string, string>> = { '-': '+', _: '/' };

/**
 * Decodes Base64 as an event may carry it (section 6), whose alphabet, padding and line ends are not shown: line ends may be
 * inside, the padding may be missing as a whole, and the alphabet may be that for URLs. A space is no line end: it may
 * once have been a `+`.
 * @returns undefined if the text is not Base64
 */
export function decodeLenientBase64(text: string): Buffer | undefined {
  const plain = text.replace(VARIATIONS, (character) => STANDARD[character] ?? '');
  const isPadded = plain.endsWith('=');
  return decodeBase64(isPadded ? plain : plain.padEnd(Math.ceil(plain.length / 4) * 4, '='));
}
