import { hash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';

/** Longer bodies are compared by a hash, which needs less memory. */
const MAX_KEY = 64;

/** No well-formed text begins with it, so bytes that are not text cannot be confused with one. */
const NOT_TEXT = '\ud800';

/** The key of a body that is text. */
export const textKey = (text: string): string =>
  text.length <= MAX_KEY ? text : hash('md5', text, 'base64');

/** The key of the bytes of an upload: that of their text, if they are UTF-8. */
export const bytesKey = (bytes: Buffer): string =>
  isUtf8(bytes) ? textKey(bytes.toString('utf8')) : NOT_TEXT + textKey(bytes.toString('base64'));

/** The keys of a live upload's record: in a history that writes text, and in one that writes Base64. */
export interface LiveKeys {
  text: string;
  bytes: string;
}

/** Both keys are the same unless the bytes are not UTF-8, which text does not preserve. */
export function liveKeys(body: Buffer): LiveKeys {
  const text = textKey(body.toString('utf8'));
  return { text, bytes: isUtf8(body) ? text : bytesKey(body) };
}

/** Joins both keys, to be saved. */
export const joinKeys = ({ text, bytes }: LiveKeys): string =>
  text === bytes ? text : text + bytes;

/** Splits the result of {@link joinKeys}. */
export function splitKeys(saved: string): LiveKeys {
  const at = saved.indexOf(NOT_TEXT);
  return at < 0
    ? { text: saved, bytes: saved }
    : { text: saved.slice(0, at), bytes: saved.slice(at) };
}
