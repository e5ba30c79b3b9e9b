import type { NodeMessage } from 'node-red';
import {
  type Answer,
  type Day,
  decodeBase64,
  type DeviceCloudError,
  seemsBase64,
  unixOf,
} from '../../src/index';
import { defineAction, type ActionCall, type Outcome } from '../common/action';
import { aboutDevice } from '../common/device-call';
import {
  decodeBody,
  isTyped,
  typeFields,
  undecodable,
  type DeviceType,
} from '../common/device-types';
import { messageOf, toProblem } from '../common/errors';
import { addName } from '../common/inputs';
import { STATUS } from '../common/status';
import { CHOICES, DEFAULTS, type HistoryConfig } from './history.config';
import { deviceOf, onlyNew, type HistoryRecord } from './incremental';

type HistoryInput = 'chipid' | 'begin' | 'end';
type HistoryCall = ActionCall<HistoryConfig, HistoryInput>;

/** Endpoints 5, 6 and 7. @param chipid undefined: all uploads between two days */
function read(
  { client, config, inputs: { begin, end }, signal }: HistoryCall,
  chipid: string | undefined,
): Promise<Answer<HistoryRecord[]>> {
  if (chipid === undefined) return client.appHistory(begin as Day, end as Day, { signal });
  return config.operation === 'pushes'
    ? client.pushHistory(chipid, { signal })
    : client.uploadHistory(chipid, { signal });
}

/** A decoded body, with what the type of its device adds. */
type Decoded = ReturnType<typeof typeFields> & { body: unknown; error?: DeviceCloudError };

/** The type by which records of a device are decoded: what was pushed to it is not what it uploads. */
function typeOf({ client, config, types }: HistoryCall, chipid = ''): DeviceType | undefined {
  if (config.operation === 'pushes' || config.datatype === 'raw') return undefined;
  return types.of(client.fleet, chipid);
}

/**
 * Decodes the body of a record. One of a device with a type that cannot be decoded has its bytes, and says why.
 * @param type comes before the datatype
 * @throws DeviceCloudError `INVALID_RESPONSE` that names a record that cannot be decoded as the datatype
 */
function decode(
  { app, config: { datatype } }: HistoryCall,
  { id, body: text }: HistoryRecord,
  type: DeviceType | undefined,
  isBase64: boolean,
): Decoded {
  if (datatype === 'raw') return { body: text };
  // An error repeats nothing of the service that may not be harmless.
  const what = `The body of the history record${/^\d{1,20}$/.test(String(id)) ? ` ${id}` : ''}`;
  const failed = (problem: string, by?: DeviceType): DeviceCloudError =>
    undecodable(what, problem, by, 'Choose another output, such as auto-detect.');
  if (typeof text !== 'string') throw failed('not text');
  const raw = isBase64 ? decodeBase64(text) : Buffer.from(text, 'utf8');
  if (!raw) throw failed('not Base64');
  const found = decodeBody(raw, { datatype, charset: app.charset, type });
  const fields = typeFields(type, raw);
  if ('value' in found) return { ...fields, body: found.value };
  const error = failed(found.problem, type);
  if (!isTyped(type)) throw error;
  return { ...fields, body: raw, raw, error };
}

/**
 * Makes one message per record, as core's split does for an array, so that join can put them together. What cannot be decoded is
 * an error of the node.
 * @param fields further fields that each message gets
 */
function split(
  { client, msg, node, RED }: HistoryCall,
  records: readonly HistoryRecord[],
  decoded: readonly Decoded[],
  fields: object,
): NodeMessage[] {
  const sequence = { id: RED.util.generateId(), type: 'array', len: 1, count: records.length };
  // What is replaced is not copied: with each of many records, a large payload would take minutes.
  const { payload: _payload, record: _record, ...passed } = msg;
  return records.flatMap((record, index) => {
    const { body: payload, error, ...more } = decoded[index] as Decoded;
    const { parts: outer, ...copy } = RED.util.cloneMessage(passed);
    const chipid = deviceOf(record);
    const message = {
      ...copy,
      ...(chipid !== undefined && addName({ chipid }, client, chipid, msg)),
      ...fields,
      ...more,
      payload,
      // Even if undefined: a timestamp that the message came with is not the record's.
      timestamp: unixOf(record.create_time, client.historyZone),
      record,
      // As split does, so that the sequence the message itself belongs to can be joined later.
      parts: { ...(outer !== undefined && { parts: outer }), ...sequence, index },
    };
    if (!error) return message;
    node.error(error, message);
    return [];
  });
}

/** Reads a history. @param chipid undefined: of all devices */
async function readHistory(call: HistoryCall, chipid?: string): Promise<Outcome> {
  const { app, client, config, msg, node } = call;
  const { statusCode, body: all } = await read(call, chipid);
  const { historyEncoding: learned } = client;
  const isBase64 = learned ? learned === 'base64' : seemsBase64(all.map(({ body }) => body));
  const outcomeOf = (records: readonly HistoryRecord[]): Outcome => {
    const decoded = records.map((record) =>
      decode(call, record, typeOf(call, chipid ?? deviceOf(record)), isBase64),
    );
    const ofDevice = chipid === undefined ? {} : addName({ chipid }, client, chipid, msg);
    const fields = { statusCode, ...ofDevice };
    if (config.split) return { messages: split(call, records, decoded, fields) };
    const payload = records.map((record, index) => {
      const { error, ...more } = decoded[index] as Decoded;
      return { ...record, ...more, ...(error && { error: toProblem(error) }) };
    });
    const units = chipid === undefined ? undefined : typeOf(call, chipid)?.units;
    return { set: { ...fields, ...(units && { units: { ...units } }), payload } };
  };
  if (!config.incremental) return outcomeOf(all);
  const prefix = `mark:${node.id}:${config.operation}:`;
  // Of a cluster, the process that keeps the marks lends them, and others may wait for them.
  const lent = await app.cluster()?.lend(prefix + (chipid ?? ''));
  try {
    const { fresh, remember } = await onlyNew(lent ?? app.store(), prefix, chipid ?? '', all);
    const sent = (): void => {
      remember();
      lent?.giveBack().catch((error: unknown) => node.warn(messageOf(error)));
    };
    return { ...outcomeOf(fresh), sent };
  } catch (error) {
    await lent?.giveBack().catch(() => undefined);
    throw error;
  }
}

/** Reads a device's uploads, its pushed commands, or all uploads between two days. */
export const action = defineAction<HistoryConfig, HistoryInput>({
  api: 'open',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs: ({ operation }) => (operation === 'sync' ? ['begin', 'end'] : ['chipid']),
  start({ app, config, showIdle }) {
    if (!config.incremental) return undefined;
    const store = app.store();
    const show = (): void => showIdle(() => (store.problem ? STATUS.notKept : STATUS.none));
    store.onProblem.add(show);
    if (store.problem) show();
    return () => store.onProblem.delete(show);
  },
  // Two readings at once would emit the same new records twice.
  sequential: ({ incremental }) => incremental,
  async perform(call) {
    if (call.config.operation === 'sync') return readHistory(call);
    return aboutDevice(call, call.inputs.chipid, (chipid) => readHistory(call, chipid));
  },
});
