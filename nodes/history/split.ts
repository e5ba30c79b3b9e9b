import type { NodeAPI, NodeMessage } from 'node-red';
import { serviceTime } from './service-time';
import { chipidOf, type DecodedRecord, type HistoryRecord } from './body';

interface SplitOptions {
  zone: string;
  nameOf: (chipid: string) => string | undefined;
  fields: Readonly<Record<string, unknown>>;
}

/** In a synchronisation (section 2.5) each record names its own device. */
function deviceFields(
  record: HistoryRecord,
  msg: NodeMessage,
  nameOf: SplitOptions['nameOf'],
): { chipid?: string; name?: string } {
  if (!('chipid' in record)) return {};
  const chipid = chipidOf(record);
  const name = msg['name'] === undefined ? nameOf(chipid) : undefined;
  return name === undefined ? { chipid } : { chipid, name };
}

/**
 * Makes one message per record, as core's split does for an array, so that join can put them together.
 * @param records as the service gave them, for `msg.record`
 * @param decoded the same with their bodies decoded, for the payloads
 * @param zone of the records' times, for `msg.timestamp`
 * @param nameOf the name of a device that a record names itself
 * @param fields further fields that each message gets
 */
export function splitRecords(
  RED: NodeAPI,
  msg: NodeMessage,
  records: readonly HistoryRecord[],
  decoded: readonly DecodedRecord[],
  { zone, nameOf, fields }: SplitOptions,
): NodeMessage[] {
  const id = RED.util.generateId();
  const count = records.length;
  // As split does, so that the sequence the message itself belongs to can be joined later.
  const outer = msg['parts'] === undefined ? {} : { parts: msg['parts'] };
  return records.map((record, index) => ({
    ...RED.util.cloneMessage(msg),
    ...deviceFields(record, msg, nameOf),
    ...fields,
    payload: decoded[index]?.body,
    // Even if undefined: a timestamp that the message came with is not the record's.
    timestamp: serviceTime(record.create_time, zone),
    record,
    parts: { ...outer, id, type: 'array', len: 1, index, count },
  }));
}
