import type { NodeAPI, NodeMessage } from 'node-red';
import { dropLeadingZeros } from '../../src/chipid';
import type { DecodedRecord, HistoryRecord } from './body';

/**
 * Makes one message per record, as core's split does of an array, so that join puts them together.
 * @param records as the service gave them, for `msg.record`
 * @param decoded the same with their bodies decoded, for the payloads
 * @param fields further fields that each message gets
 */
export function splitRecords(
  RED: NodeAPI,
  msg: NodeMessage,
  records: readonly HistoryRecord[],
  decoded: readonly DecodedRecord[],
  fields: Readonly<Record<string, unknown>>,
): NodeMessage[] {
  const id = RED.util.generateId();
  const count = records.length;
  // As split does, so that the sequence the message itself belongs to can be joined later.
  const outer = msg['parts'] === undefined ? {} : { parts: msg['parts'] };
  return records.map((record, index) => ({
    ...RED.util.cloneMessage(msg),
    // Of the synchronisation (section 2.5) each record names its own device.
    ...('chipid' in record ? { chipid: dropLeadingZeros(String(record.chipid)) } : {}),
    ...fields,
    payload: decoded[index]?.body,
    record,
    parts: { ...outer, id, type: 'array', len: 1, index, count },
  }));
}
