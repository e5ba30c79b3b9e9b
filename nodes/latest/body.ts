import { isUtf8 } from 'node:buffer';
import type { Charset, Datatype, LatestUpload } from '../../src/index';
import { uploadText } from '../../src/input';
import { decodeBody } from '../common/decode';

/** The most bytes of a character of UTF-8 that a cut can leave at the end. */
const MAX_REST = 3;

/** The text of the bytes, but for a character that was cut in two at their end; undefined if they are no text. */
function textOf(bytes: Buffer, charset: Charset): string | undefined {
  for (const each of charset === 'utf-8' ? [charset] : (['utf-8', charset] as const)) {
    for (let rest = 0; rest <= MAX_REST && rest <= bytes.length; rest++) {
      const whole = bytes.subarray(0, bytes.length - rest);
      // Half a character of UTF-8 may be one of the other charset: UTF-8 is tried with each cut first.
      const text = each === 'utf-8' && !isUtf8(whole) ? undefined : uploadText(whole, each);
      if (text !== undefined) return text;
    }
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
  charset: Charset,
): { value: unknown } | { problem: string } {
  const isPlain = datatype === 'buffer' || datatype === 'base64';
  if (!truncated || isPlain) return decodeBody(body, datatype, charset);
  return { value: textOf(body, charset) ?? body };
}
