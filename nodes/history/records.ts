import type { NodeMessage } from 'node-red';
import {
  type Charset,
  decodeBase64,
  type DeviceCloudError,
  dropLeadingZeros,
  type PushRecord,
  type SyncRecord,
  unixOf,
  type UploadRecord,
} from '../../src/index';
import type { ActionCall } from '../common/action';
import { addName } from '../common/inputs';
import {
  type DeviceType,
  decodeBody,
  isTyped,
  typeFields,
  undecodable,
} from '../common/device-types';
import type { HistoryConfig } from './history.config';

/** A record of any of the three histories. */
export type HistoryRecord = UploadRecord | PushRecord | SyncRecord;

/** The device that a record names itself. The type promises a text, but the service may send a number. */
export const chipidOf = ({ chipid }: { chipid: unknown }): string =>
  dropLeadingZeros(String(chipid));

/** A record whose body may have been decoded. */
type DecodedRecord = Omit<HistoryRecord, 'body'> & {
  body: unknown;
  /** Of a device with a type; the bytes if it says so, or if they cannot be decoded. */
  raw?: Buffer;
  units?: Record<string, string>;
  error?: DeviceCloudError;
};

/** The id, if it is well-formed: an error repeats nothing of the service that may not be harmless. */
const named = ({ id }: HistoryRecord): string => (/^\d{1,20}$/.test(String(id)) ? ` ${id}` : '');

/** @param type of its device, by which it is decoded */
const failed = (record: HistoryRecord, problem: string, type?: DeviceType): DeviceCloudError =>
  undecodable(
    `The body of the history record${named(record)}`,
    problem,
    type,
    'Choose another output, such as auto-detect.',
  );

/** How bodies are written: the service's document does not show it. */
interface BodyForm {
  isBase64: boolean;
  /** Of bytes that are not UTF-8. */
  charset: Charset;
}

/** @throws DeviceCloudError `INVALID_RESPONSE` that names the record */
function bytesOfRecord(record: HistoryRecord, { isBase64 }: BodyForm): Buffer {
  const { body: text } = record;
  if (typeof text !== 'string') throw failed(record, 'not text');
  const bytes = isBase64 ? decodeBase64(text) : Buffer.from(text, 'utf8');
  if (bytes) return bytes;
  throw failed(record, 'not Base64');
}

/**
 * Decodes the bodies of records. One of a device with a type that cannot be decoded has its bytes, and says why.
 * @param typeOf the type of a record's device, which comes before the datatype
 * @throws DeviceCloudError `INVALID_RESPONSE` that names a record that cannot be decoded as the datatype
 */
export function decodeRecords(
  records: readonly HistoryRecord[],
  form: BodyForm,
  datatype: HistoryConfig['datatype'],
  typeOf: (record: HistoryRecord) => DeviceType | undefined,
): DecodedRecord[] {
  return records.map((record) => {
    if (datatype === 'raw') return record;
    const type = typeOf(record);
    const raw = bytesOfRecord(record, form);
    const found = decodeBody(raw, { datatype, charset: form.charset, type });
    const fields = { ...record, ...typeFields(type, raw) };
    if ('value' in found) return { ...fields, body: found.value };
    const error = failed(record, found.problem, type);
    if (!isTyped(type)) throw error;
    return { ...fields, body: raw, raw, error };
  });
}

/**
 * Makes one message per record, as core's split does for an array, so that join can put them together.
 * @param records as the service gave them, for `msg.record`
 * @param decoded the same with their bodies decoded, for the payloads
 * @param fields further fields that each message gets
 */
export function splitRecords(
  { client, msg, RED }: Pick<ActionCall<object, string>, 'client' | 'msg' | 'RED'>,
  records: readonly HistoryRecord[],
  decoded: readonly DecodedRecord[],
  fields: Readonly<Record<string, unknown>>,
): NodeMessage[] {
  const id = RED.util.generateId();
  const count = records.length;
  // What is replaced is not copied: with each of many records, a large payload would take minutes.
  const { payload: _payload, record: _record, ...passed } = msg;
  return records.map((record, index) => {
    const { body: payload, raw, units } = decoded[index] ?? {};
    const { parts: outer, ...copy } = RED.util.cloneMessage(passed);
    // A record of a synchronisation names its device itself (section 2.5).
    const chipid = 'chipid' in record ? chipidOf(record) : undefined;
    return {
      ...copy,
      ...(chipid !== undefined && addName({ chipid }, client, chipid, msg)),
      ...fields,
      ...(raw && { raw }),
      ...(units && { units }),
      payload,
      // Even if undefined: a timestamp that the message came with is not the record's.
      timestamp: unixOf(record.create_time, client.historyZone),
      record,
      // As split does, so that the sequence the message itself belongs to can be joined later.
      parts: {
        ...(outer !== undefined && { parts: outer }),
        id,
        type: 'array',
        len: 1,
        index,
        count,
      },
    };
  });
}
