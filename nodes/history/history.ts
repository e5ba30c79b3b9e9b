import type { NodeAPI } from 'node-red';
import type { Answer } from '../../src/types';
import { parseChipid } from '../../src/input/chipid';
import { parsePeriod } from '../../src/input/day';
import { DeviceCloudError } from '../../src/errors';
import { DEFAULT_ZONE } from '../app/app.config';
import { guessEncoding } from '../../src/recovery/encoding';
import type { Encoding } from '../../src/recovery/facts';
import { findApp } from '../app/app-node';
import { registerAction, type ActionCall, type Outcome } from '../common/action';
import { CHIPID_INPUT, type InputTable } from '../common/inputs';
import { decodeRecord, type HistoryRecord } from './body';
import { HISTORY_TYPE, type HistoryConfig } from './history.config';
import { onlyNew } from './incremental';
import { splitRecords } from './split';

type HistoryInput = 'chipid' | 'begin' | 'end';
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

/** How the service writes its history: as it is set; with `auto` what recovery has learned, or what these records look like. */
function formOf(
  RED: NodeAPI,
  { client, config }: HistoryCall,
  records: readonly HistoryRecord[],
): { encoding: Encoding; zone: string } {
  const app = findApp(RED, config.app);
  const isKnown = !(app instanceof DeviceCloudError);
  const setting = isKnown ? app.historyEncoding : 'auto';
  const zone = isKnown ? app.historyZone : DEFAULT_ZONE;
  if (setting !== 'auto') return { encoding: setting, zone };
  const learned = client.historyEncoding;
  return { encoding: learned ?? guessEncoding(records.map(({ body }) => body)), zone };
}

/** Reads, decodes and hands over the records that are due. */
async function readHistory(RED: NodeAPI, call: HistoryCall): Promise<Outcome> {
  const { config, inputs, msg, node } = call;
  const isSync = config.operation === 'sync';
  const chipid = isSync ? '' : parseChipid(inputs.chipid);
  const { statusCode, body } = await read(call, chipid);
  const operation = isSync || config.operation === 'pushes' ? config.operation : 'uploads';
  const due = config.incremental ? await onlyNew(node, operation, chipid, body) : undefined;
  const { encoding, zone } = formOf(RED, call, body);
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
    api: 'open',
    inputs: ({ operation }) => (operation === 'sync' ? PERIOD : CHIPID_INPUT),
    // Two readings at once would emit the same new records twice.
    sequential: ({ incremental }) => incremental,
    perform: (call) => readHistory(RED, call),
  });
};
