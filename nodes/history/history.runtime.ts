import { seemsBase64, type Answer, type Day } from '../../src/index';
import { defineAction, type ActionCall, type Outcome } from '../common/action';
import { aboutDevice } from '../common/device-call';
import { addName } from '../common/inputs';
import type { DeviceType } from '../common/device-types';
import { messageOf, toProblem } from '../common/errors';
import { STATUS } from '../common/status';
import { CHOICES, DEFAULTS, type HistoryConfig } from './history.config';
import { onlyNew } from './incremental';
import { chipidOf, decodeRecords, splitRecords, type HistoryRecord } from './records';

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

/** Whether bodies are written in Base64, as recovery has learned it, or as these records look. */
const isBase64 = ({ client }: HistoryCall, records: readonly HistoryRecord[]): boolean =>
  client.historyEncoding === undefined
    ? seemsBase64(records.map(({ body }) => body))
    : client.historyEncoding === 'base64';

async function readHistory(call: HistoryCall, chipid?: string): Promise<Outcome> {
  const { app, node, config } = call;
  const { statusCode, body } = await read(call, chipid);
  const isInBase64 = isBase64(call, body);
  if (!config.incremental) return outcomeOf(call, body, isInBase64, statusCode, chipid);
  const prefix = `mark:${node.id}:${config.operation}:`;
  // Of a cluster, the process that keeps the marks lends them, and others may wait for them.
  const lent = await app.cluster()?.lend(prefix + (chipid ?? ''));
  try {
    const news = await onlyNew(lent ?? app.store(), prefix, chipid ?? '', body);
    const sent = (): void => {
      news.remember();
      lent?.giveBack().catch((error: unknown) => node.warn(messageOf(error)));
    };
    return { ...outcomeOf(call, news.fresh, isInBase64, statusCode, chipid), sent };
  } catch (error) {
    await lent?.giveBack().catch(() => undefined);
    throw error;
  }
}

function outcomeOf(
  call: HistoryCall,
  records: readonly HistoryRecord[],
  isInBase64: boolean,
  statusCode: number,
  chipid: string | undefined,
): Outcome {
  const { app, client, config, msg, node, types } = call;
  const { datatype, operation } = config;
  const form = { isBase64: isInBase64, charset: app.charset };
  // What was pushed to a device is not what it uploads.
  const isDecoded = operation !== 'pushes' && datatype !== 'raw';
  const typeOf = (device: string): DeviceType | undefined =>
    isDecoded ? types.of(client.fleet, device) : undefined;
  const decoded = decodeRecords(records, form, datatype, (record) =>
    typeOf(chipid ?? ('chipid' in record ? chipidOf(record) : '')),
  );
  const units = chipid === undefined ? undefined : typeOf(chipid)?.units;
  const ofDevice = chipid === undefined ? {} : addName({ chipid }, client, chipid, msg);
  const fields = { statusCode, ...ofDevice };
  if (!config.split) {
    const payload = decoded.map((each) =>
      each.error ? { ...each, error: toProblem(each.error) } : each,
    );
    return { set: { ...fields, ...(units && { units: { ...units } }), payload } };
  }
  const messages = splitRecords(call, records, decoded, fields);
  for (const [index, { error }] of decoded.entries()) if (error) node.error(error, messages[index]);
  return { messages: messages.filter((_, index) => !decoded[index]?.error) };
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
