import { isUtf8 } from 'node:buffer';
import type { Datatype } from './records';

const BRACE = 0x7b;
const BRACKET = 0x5b;
const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** A JSON object or array if the bytes are one, else undefined. Looks at one byte before it parses. */
function objectOrArray(bytes: Buffer): object | undefined {
  let first = 0;
  while (isSpace(bytes[first])) first++;
  if (bytes[first] !== BRACE && bytes[first] !== BRACKET) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8')) as object;
  } catch {
    return undefined;
  }
}

/**
 * Decodes the bytes of an upload.
 * `auto-detect` gives a JSON object or array, else text if the bytes are valid UTF-8, else the bytes.
 * @throws SyntaxError if the datatype is `json` and the bytes are none
 */
export function decodeUpload(bytes: Buffer, datatype: Datatype): unknown {
  switch (datatype) {
    case 'buffer':
      return bytes;
    case 'utf8':
      return bytes.toString('utf8');
    case 'base64':
      return bytes.toString('base64');
    case 'json':
      return JSON.parse(bytes.toString('utf8')) as unknown;
    case 'auto-detect':
      if (!isUtf8(bytes)) return bytes;
      return objectOrArray(bytes) ?? bytes.toString('utf8');
  }
}
