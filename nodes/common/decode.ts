import { decodeUpload, type Datatype } from '../../src/index';
import { JsonLimitError } from '../../src/input';

/**
 * Decodes the body of an upload, live or from the history.
 * @returns the value, or what is wrong with it, to end the sentence "the body is …"
 */
export function decodeBody(
  bytes: Buffer,
  datatype: Datatype,
): { value: unknown } | { problem: string } {
  try {
    return { value: decodeUpload(bytes, datatype) };
  } catch (error) {
    return { problem: error instanceof JsonLimitError ? error.what : 'not JSON' };
  }
}
