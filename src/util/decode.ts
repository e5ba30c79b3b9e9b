import { isUtf8 } from 'node:buffer';
import { isSpace, OPEN_BRACE, OPEN_BRACKET } from './json-bytes';
import { checkJson } from './json-scan';
import type { Datatype } from '../types';

/** Parses JSON, unless a flow could not handle it: too many levels or values. */
function parse(bytes: Buffer): unknown {
  checkJson(bytes);
  return JSON.parse(bytes.toString('utf8'));
}

/** Returns the JSON object or array that the bytes are, or undefined. */
function objectOrArray(bytes: Buffer): object | undefined {
  let first = 0;
  while (isSpace(bytes[first])) first++;
  if (bytes[first] !== OPEN_BRACE && bytes[first] !== OPEN_BRACKET) return undefined;
  try {
    return parse(bytes) as object;
  } catch {
    return undefined;
  }
}

/**
 * Decodes the bytes of an upload.
 * `auto-detect` gives a JSON object or array, else text if the bytes are valid UTF-8, else the bytes.
 * JSON of more than 100 levels, a million arrays and objects, or five million fields is text.
 * @throws SyntaxError if the datatype is `json` and the bytes are not JSON or exceed these limits
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
