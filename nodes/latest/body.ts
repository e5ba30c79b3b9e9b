import { isUtf8 } from 'node:buffer';
import type { Datatype, LatestUpload } from '../../src/index';
import { decodeBody } from '../common/decode';
/** The most bytes of a character of UTF-8 that a cut can leave at the end. */
const MAX_REST = 3;

/** The text of the bytes, but for a character that was cut in two at their end; undefined if they are no text. */
function textOf(bytes: Buffer): string | undefined {
  for (let rest = 0; rest <= MAX_REST && rest <= bytes.length; rest++) {
    const whole = bytes.subarray(0, bytes.length - rest);
    if (isUtf8(whole)) return whole.toString('utf8');
  }
  return undefined;
}

/**
 * Decodes the body of an upload. A truncated body is not valid JSON, so it is returned as text or a Buffer.
 * @returns the value, or what is wrong with it, to end the sentence "the body is …"
 */
export function decodeLatest(
  { body, truncated }: LatestUpload,
  datatype: Datatype,
): { value: unknown } | { problem: string } {
  const isPlain = datatype === 'buffer' || datatype === 'base64';
  if (!truncated || isPlain) return decodeBody(body, datatype);
  return { value: textOf(body) ?? body };
}
