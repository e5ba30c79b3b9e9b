import { decodeUpload, type Charset, type Datatype } from '../../src/index';
import { JsonLimitError } from '../../src/input';

/**
 * Decodes the body of an upload, live or from the history.
 * @param charset of text that is not UTF-8
 * @returns the value, or what is wrong with it, to end the sentence "the body is …"
 */
export function decodeBody(
  bytes: Buffer,
  datatype: Datatype,
  charset: Charset,
): { value: unknown } | { problem: string } {
  try {
    return { value: decodeUpload(bytes, datatype, charset) };
  } catch (error) {
    return { problem: error instanceof JsonLimitError ? error.what : 'not JSON' };
  }
}
