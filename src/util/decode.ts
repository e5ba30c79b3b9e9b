import { isUtf8 } from 'node:buffer';
import { checkJson } from './json-scan';
import type { Datatype } from '../types';

const BRACE = 0x7b;
const BRACKET = 0x5b;
const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Parses JSON, unless it is nested so deeply, or of so many values, that a flow could not handle it. */
function parse(bytes: Buffer): unknown {
  checkJson(bytes);
  return JSON.parse(bytes.toString('utf8'));
}

/** A JSON object or array if the bytes are one, else undefined. Looks at one byte before it parses. */
function objectOrArray(bytes: Buffer): object | undefined {
  let first = 0;
  while (isSpace(bytes[first])) first++;
  if (bytes[first] !== BRACE && bytes[first] !== BRACKET) return undefined;
  try {
    return parse(bytes) as object;
  } catch {
    return undefined;
  }
}

/**
 * Decodes the bytes of an upload.
 * `auto-detect` gives a JSON object or array, else text if the bytes are valid UTF-8, else the bytes.
 * JSON that is nested deeper than 100 levels, or is of more than a million arrays and objects or five
 * million fields, is text.
 * @throws SyntaxError if the datatype is `json` and the bytes are none, or are beyond these limits
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
      return parse(bytes);
    case 'auto-detect':
      if (!isUtf8(bytes)) return bytes;
      return objectOrArray(bytes) ?? bytes.toString('utf8');
  }
}
