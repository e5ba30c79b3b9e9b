import {
  DeviceCloudError,
  type Encoding,
  type PushRecord,
  type SyncRecord,
  type UploadRecord,
} from '../../src/index';
import { decodeBase64, dropLeadingZeros } from '../../src/input';
import { decodeBody } from '../common/decode';
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

/**
 * Decodes the bodies of records. The service's document does not show how a body is written, so the
 * application says whether it is text or Base64.
 * @throws DeviceCloudError `INVALID_RESPONSE` that names the record
 */
export function decodeRecord(
  record: HistoryRecord,
  encoding: Encoding,
  datatype: HistoryConfig['datatype'],
): DecodedRecord {
  if (datatype === 'raw') return record;
  const { body: text } = record;
  if (typeof text !== 'string') throw undecodable(record, 'not text');
  const bytes = encoding === 'base64' ? decodeBase64(text) : Buffer.from(text, 'utf8');
  if (!bytes) throw undecodable(record, 'not Base64');
  const decoded = decodeBody(bytes, datatype);
  if ('problem' in decoded) throw undecodable(record, decoded.problem);
  return { ...record, body: decoded.value };
}
