import type { Charset } from '../../src/for-nodes';
import { uploadText } from '../../src/input';

const JOINED = /^[0-9a-f]+$/i;
const SPACED = /^[0-9a-f]{1,2}(?:\s+[0-9a-f]{1,2})+$/i;

/**
 * Whether a history of pushes writes its bodies in hexadecimal, as the public server of 2016 does: all of them can be
 * that, and one has a letter or blanks. Bodies of decimal digits alone may as well be the numbers that were pushed.
 */
export function isHexadecimal(bodies: readonly unknown[]): boolean {
  const texts = bodies.filter((body) => typeof body === 'string' && body !== '') as string[];
  return (
    texts.every((body) => JOINED.test(body) || SPACED.test(body)) &&
    texts.some((body) => /[a-f\s]/i.test(body))
  );
}

/** Tab, line feed and carriage return: the bytes of one digit that text has. */
const ONE_DIGIT = /[9ad]/i;
/** The most bytes of a character. */
const LONGEST: Readonly<Record<Charset, number>> = { 'utf-8': 4, gbk: 2 };

/** The bytes of the `count` pairs of digits from `at` on, if they are one visible character of the charset. */
function characterAt(
  body: string,
  at: number,
  count: number,
  charset: Charset,
): Buffer | undefined {
  const bytes = Buffer.from(body.slice(at, at + 2 * count), 'hex');
  // A byte that begins with a zero is written with one digit.
  if (bytes.length < count || bytes.some((byte) => byte < 0x10)) return undefined;
  const isAscii = (bytes[0] as number) < 0x80;
  const text = uploadText(bytes, isAscii ? 'utf-8' : charset);
  const isOne = text !== undefined && Array.from(text).length === 1 && !/\p{Cc}/u.test(text);
  // What is valid UTF-8 is read as such even in another charset.
  return isOne ? bytes : undefined;
}

/** The one way to read the digits as text of the charset; `several` if there are more. */
function readAs(body: string, charset: Charset): Buffer | 'several' | undefined {
  // From the end: how many ways there are to read the rest, at most 2, and what one of them begins with.
  const ways = new Uint8Array(body.length + 1);
  const begins: (Buffer | undefined)[] = [];
  const digits = new Uint8Array(body.length + 1);
  ways[body.length] = 1;
  for (let at = body.length - 1; at >= 0; at--) {
    const add = (bytes: Buffer, length: number): void => {
      if (!ways[at + length]) return;
      ways[at] = Math.min(2, (ways[at] ?? 0) + (ways[at + length] ?? 0));
      begins[at] = bytes;
      digits[at] = length;
    };
    const digit = body.charAt(at);
    if (ONE_DIGIT.test(digit)) add(Buffer.from(`0${digit}`, 'hex'), 1);
    for (let count = 1; count <= LONGEST[charset] && at + 2 * count <= body.length; count++) {
      const bytes = characterAt(body, at, count, charset);
      if (bytes) add(bytes, 2 * count);
    }
  }
  if (ways[0] !== 1) return ways[0] ? 'several' : undefined;
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += digits[at] ?? 1) parts.push(begins[at] as Buffer);
  return Buffer.concat(parts);
}

/**
 * The bytes of a body of such a history. Between blanks, each is one or two digits. Without blanks, bytes below 16
 * have one digit, so that the digits alone do not say where a byte ends: they are read as text, if there is exactly one
 * way to do so.
 * @returns undefined if it cannot be told apart
 */
export function hexadecimalBytes(body: string, charset: Charset): Buffer | undefined {
  if (SPACED.test(body)) {
    return Buffer.from(body.split(/\s+/).map((digits) => Number.parseInt(digits, 16)));
  }
  if (!JOINED.test(body)) return undefined;
  const bytes = readAs(body, 'utf-8') ?? (charset === 'gbk' ? readAs(body, 'gbk') : undefined);
  return bytes === 'several' ? undefined : bytes;
}
