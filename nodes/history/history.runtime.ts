import { guessEncoding, type Answer, type Day } from '../../src/index';
import type { ActionCall, Outcome } from '../common/action';
import { actionRuntime } from '../common/action-runtime';
import { zoneOfService } from '../common/app';
import { choiceOf } from '../common/choice';
import { aboutDevice, deviceOf } from '../common/device-call';
import { addName, nameOf } from '../common/device-name';
import { CHIPID_INPUT, type InputTable } from '../common/inputs';
import { decodeRecord, type BodyForm, type HistoryRecord } from './body';
import { isHexadecimal } from './hexadecimal';
import type { HistoryConfig } from './history.config';
import { onlyNew } from './incremental';
import { splitRecords } from './split';

type HistoryInput = 'chipid' | 'begin' | 'end';
type HistoryCall = ActionCall<HistoryConfig, HistoryInput>;
type Operation = HistoryConfig['operation'];

const PERIOD: InputTable<HistoryInput> = { begin: ['begin', 'msg'], end: ['end', 'msg'] };

const DATATYPES = ['raw', 'auto-detect', 'buffer', 'utf8', 'json', 'base64'] as const;

const operationOf = ({ operation }: HistoryConfig): Operation =>
  choiceOf(operation, 'operation', ['uploads', 'pushes', 'sync']);

/** Endpoints 5, 6 and 7. */
function read({ client, config, inputs, signal }: HistoryCall): Promise<Answer<HistoryRecord[]>> {
  const device = deviceOf(inputs);
  switch (operationOf(config)) {
    case 'sync':
      return client.sync(inputs.begin as Day, inputs.end as Day, { signal });
    case 'pushes':
      return client.pushes(device, { signal });
    case 'uploads':
      return client.uploads(device, { signal });
  }
}

/** How bodies are written: as it is set; with `auto` as recovery has learned it, or as these records look. */
function encodingOf(
  { app, client, config }: HistoryCall,
  records: readonly HistoryRecord[],
): BodyForm['encoding'] {
  const bodies = records.map(({ body }) => body);
  const set = app.historyEncoding;
  const isHex = operationOf(config) === 'pushes' && set !== 'base64' && isHexadecimal(bodies);
  if (isHex) return 'hexadecimal';
  const form = set === 'auto' ? (client.historyEncoding ?? guessEncoding(bodies)) : set;
  // Whatever else a form leaves out, its bodies are text.
  return form === 'base64' ? form : 'text';
}

/** Reads, decodes and returns the records to emit: of one device, or of all between two days. */
async function readHistory(call: HistoryCall, chipid?: string): Promise<Outcome> {
  const { app, client, config, msg, node, RED } = call;
  const datatype = choiceOf(config.datatype, 'datatype', DATATYPES);
  const { statusCode, body } = await read(call);
  const operation = operationOf(config);
  const due = config.incremental ? await onlyNew(node, operation, chipid ?? '', body) : undefined;
  const form = { encoding: encodingOf(call, body), charset: app.charset };
  const records = due?.fresh ?? body;
  const decoded = records.map((record) => decodeRecord(record, form, datatype));
  const ofDevice = chipid === undefined ? {} : addName({ chipid }, client, chipid, msg);
  const fields = { statusCode, ...ofDevice };
  const sent = due && { sent: due.remember };
  if (!config.split) return { set: { ...fields, payload: decoded }, ...sent };
  const messages = splitRecords(RED, msg, records, decoded, {
    zone: zoneOfService(client),
    nameOf: (device) => nameOf(client, device),
    fields,
  });
  return { messages, ...sent };
}

/** Reads a device's uploads, its pushed commands, or all uploads between two days. */
export const runtime = actionRuntime<HistoryConfig, HistoryInput>({
  api: 'open',
  inputs: ({ operation }) => (operation === 'sync' ? PERIOD : CHIPID_INPUT),
  // Two readings at once would emit the same new records twice.
  sequential: ({ incremental }) => incremental,
  async perform(call) {
    if (operationOf(call.config) === 'sync') return readHistory(call);
    return aboutDevice(call, (chipid) => readHistory(call, chipid));
  },
});
