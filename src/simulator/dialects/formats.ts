import { PUSH_FORMATS, type PushFormat } from '../../types';
import { decodeBase64 } from '../assumptions';

const HEX = /^(?:[0-9a-fA-F]{2})*$/;

/** The format of a name (section 4.2.3), or undefined if there is no such format. */
export const formatOf = (name: unknown): PushFormat | undefined =>
  PUSH_FORMATS.find((format) => format === name);

/** The bytes of a message in hexadecimal or Base64, or undefined if it is malformed. */
export function decoded(message: string, format: 'HEX' | 'B64'): Buffer | undefined {
  if (format === 'B64') return decodeBase64(message);
  return HEX.test(message) ? Buffer.from(message, 'hex') : undefined;
}
