import type { NodeAPI } from 'node-red';
import type { Answer } from '../../src/answers';
import { parseChipid } from '../../src/chipid';
import { parsePeriod } from '../../src/day';
import { DeviceCloudError } from '../../src/errors';
import { DEFAULT_ZONE } from '../app/app.config';
import { findApp } from '../app/app-node';
import { registerAction, type ActionCall, type Outcome } from '../common/action';
import { CHIPID_INPUT, type InputTable } from '../common/inputs';
import { decodeRecord, type HistoryRecord } from './body';
import { HISTORY_TYPE, type HistoryConfig } from './history.config';
import { onlyNew } from './incremental';
import { splitRecords } from './split';

type HistoryInput = 'chipid' | 'begin' | 'end';
type Encoding = 'text' | 'base64';
type HistoryCall = ActionCall<HistoryConfig, HistoryInput>;

const PERIOD: InputTable<HistoryInput> = { begin: ['begin', 'msg'], end: ['end', 'msg'] };

/** Endpoints 5, 6 and 7. */
async function read(call: HistoryCall, chipid: string): Promise<Answer<HistoryRecord[]>> {
  const { client, config, inputs, signal } = call;
  if (config.operation === 'sync') {
    const [begin, end] = parsePeriod(inputs.begin, inputs.end);
    return client.sync(begin, end, { signal });
  }
  return config.operation === 'pushes'
    ? client.pushes(chipid, { signal })
    : client.uploads(chipid, { signal });
}

/** How the application says that the service writes its history. */
function formOf(RED: NodeAPI, config: HistoryConfig): { encoding: Encoding; zone: string } {
  const app = findApp(RED, config.app);
  if (app instanceof DeviceCloudError) return { encoding: 'text', zone: DEFAULT_ZONE };
  // What a listener learns of the encoding is not known here: text is what the document suggests.
  const encoding = app.historyEncoding === 'base64' ? 'base64' : 'text';
  return { encoding, zone: app.historyZone };
}

/** Reads, decodes and hands over the records that are due. */
async function readHistory(RED: NodeAPI, call: HistoryCall): Promise<Outcome> {
  const { config, inputs, msg, node } = call;
  const isSync = config.operation === 'sync';
  const chipid = isSync ? '' : parseChipid(inputs.chipid);
  const { statusCode, body } = await read(call, chipid);
  const operation = isSync || config.operation === 'pushes' ? config.operation : 'uploads';
  const due = config.incremental ? await onlyNew(node, operation, chipid, body) : undefined;
  const { encoding, zone } = formOf(RED, config);
  const datatype = (config.datatype as HistoryConfig['datatype'] | undefined) ?? 'raw';
  const records = due?.fresh ?? body;
  const decoded = records.map((record) => decodeRecord(record, encoding, datatype));
  const fields = isSync ? { statusCode } : { statusCode, chipid };
  const sent = due && { sent: due.remember };
  return config.split
    ? { messages: splitRecords(RED, msg, records, decoded, { zone, fields }), ...sent }
    : { set: { ...fields, payload: decoded }, ...sent };
}

/** Reads a device's uploads, its pushed commands, or all uploads between two days. */
export = function (RED: NodeAPI): void {
  registerAction<HistoryConfig, HistoryInput>(RED, HISTORY_TYPE, {
    face: 'open',
    inputs: ({ operation }) => (operation === 'sync' ? PERIOD : CHIPID_INPUT),
    // Two readings at once would emit the same new records twice.
    inTurn: ({ incremental }) => incremental,
    perform: (call) => readHistory(RED, call),
  });
};
