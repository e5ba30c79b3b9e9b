import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  MINUS,
  OPEN_BRACKET,
  ZERO,
} from './json-bytes';
import { scanJson } from './json-scan';

const LAST_SAFE = Buffer.from(String(Number.MAX_SAFE_INTEGER));

/** `undefined` is the beginning or the end of the text, which may be one number. */
const isBefore = (byte: number | undefined): boolean =>
  byte === COMMA || byte === COLON || byte === OPEN_BRACKET || byte === undefined || isSpace(byte);
const isAfter = (byte: number | undefined): boolean =>
  byte === COMMA ||
  byte === CLOSE_BRACE ||
  byte === CLOSE_BRACKET ||
  byte === undefined ||
  isSpace(byte);

/** Compares a run of digits that has at least as many as the last safe integer. */
function isSafe(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > LAST_SAFE.length) return false;
  for (let at = 0; at < LAST_SAFE.length; at++) {
    const difference = (bytes[start + at] as number) - (LAST_SAFE[at] as number);
    if (difference !== 0) return difference < 0;
  }
  return true;
}

/**
 * Whether a run of digits is a whole integer in the place of a value. In quotes it would be valid wherever a
 * number is, and also as a name: quoting must not turn invalid JSON into valid JSON.
 */
function isInteger(bytes: Buffer, start: number, first: number, end: number): boolean {
  if (bytes[first] === ZERO || !isBefore(bytes[start - 1]) || !isAfter(bytes[end])) return false;
  while (isSpace(bytes[end])) end++;
  return bytes[end] !== COLON;
}

/**
 * Finds the integers, sign included, that a number cannot hold.
 * @param found is called with where some of them begin and end, in a list that is used again
 */
export function findLongIntegers(
  bytes: Buffer,
  found: (ends: Uint32Array, count: number) => void,
): void {
  scanJson(bytes, (runs, count) => {
    let kept = 0;
    for (let index = 0; index < count; index += 2) {
      const first = runs[index] as number;
      const end = runs[index + 1] as number;
      const start = bytes[first - 1] === MINUS ? first - 1 : first;
      if (!isInteger(bytes, start, first, end) || isSafe(bytes, first, end)) continue;
      runs[kept++] = start;
      runs[kept++] = end;
    }
    if (kept > 0) found(runs, kept);
  });
}
