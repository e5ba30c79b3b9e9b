import {
  DeviceCloudError,
  type Charset,
  type PushRecord,
  type SyncRecord,
  type UploadRecord,
} from '../../src/index';
import { decodeBase64, dropLeadingZeros } from '../../src/input';
import { decodeBody } from '../common/decode';
import { hexadecimalBytes } from './hexadecimal';
import type { HistoryConfig } from './history.config';

/** A record of any of the three histories. */
export type HistoryRecord = UploadRecord | PushRecord | SyncRecord;

/** The device that a record names itself. The type promises a text, but the service may send a number. */
export const chipidOf = ({ chipid }: { chipid: unknown }): string =>
  dropLeadingZeros(String(chipid));

/** A record whose body may have been decoded. */
export type DecodedRecord = Omit<HistoryRecord, 'body'> & { body: unknown };

/** The id, if it is well-formed: an error repeats nothing of the service that may not be harmless. */
const named = ({ id }: HistoryRecord): string => (/^\d{1,20}$/.test(String(id)) ? ` ${id}` : '');

const undecodable = (record: HistoryRecord, what: string): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    `The body of the history record${named(record)} is ${what}. ` +
      'Choose another output, such as auto-detect, or another encoding in the application.',
  );

/** How bodies are written: the service's document does not show it. */
export interface BodyForm {
  /** With `hexadecimal`, a body that cannot be that is text. */
  encoding: 'text' | 'base64' | 'hexadecimal';
  /** Of bytes that are not UTF-8. */
  charset: Charset;
}

function bytesOf(text: string, { encoding, charset }: BodyForm): Buffer | undefined {
  if (encoding === 'base64') return decodeBase64(text);
  const bytes = encoding === 'hexadecimal' ? hexadecimalBytes(text, charset) : undefined;
  return bytes ?? Buffer.from(text, 'utf8');
}

/**
 * Decodes the body of a record.
 * @throws DeviceCloudError `INVALID_RESPONSE` that names the record
 */
export function decodeRecord(
  record: HistoryRecord,
  form: BodyForm,
  datatype: HistoryConfig['datatype'],
): DecodedRecord {
  if (datatype === 'raw') return record;
  const { body: text } = record;
  if (typeof text !== 'string') throw undecodable(record, 'not text');
  const bytes = bytesOf(text, form);
  if (!bytes) throw undecodable(record, 'not Base64');
  const decoded = decodeBody(bytes, datatype, form.charset);
  if ('problem' in decoded) throw undecodable(record, decoded.problem);
  return { ...record, body: decoded.value };
}
