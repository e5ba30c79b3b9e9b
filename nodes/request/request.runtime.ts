import type { PushMessage, Reply, RequestMatch } from '../../src/index';
import type { ActionCall } from '../common/action';
import { actionRuntime } from '../common/action-runtime';
import { aboutDevice, formatOf, timeoutOf } from '../common/device-call';
import { addName } from '../common/device-name';
import { CHIPID_INPUT, type InputTable } from '../common/inputs';
import { numberOf } from '../common/values';
import { jsonataCondition } from './condition';
import { REPLY_TIMEOUT, type RequestConfig } from './request.config';

type Inputs = 'chipid' | 'message' | 'equals';
type Call = ActionCall<RequestConfig, Inputs>;

function inputsOf({ match }: Partial<RequestConfig>): InputTable<Inputs> {
  const inputs = { ...CHIPID_INPUT, message: ['payload', 'msg'] } as const;
  return match === undefined || match === 'property' ? { ...inputs, equals: ['', 'str'] } : inputs;
}

/** What a reply puts on the message. */
function fieldsOf({ payload, upload, elapsed, answer, statusCode, uncertain }: Reply): object {
  return {
    ...{ payload, elapsed, timestamp: upload.timestamp },
    ...(answer && { answer }),
    ...(statusCode !== undefined && { statusCode }),
    ...(uncertain && { uncertain }),
    ...(upload.replayed && { replayed: true }),
    ...(upload.altered && { altered: true }),
  };
}

function matchOf({ config, inputs, msg, node, RED }: Call): RequestMatch {
  const { property, pattern, expression } = config;
  // A flow written by hand may leave it out.
  const match = (config as Partial<RequestConfig>).match ?? 'property';
  if (match === 'property') return { property, equals: inputs.equals };
  if (match === 'pattern') return { pattern };
  // What is no choice is left to the client, which says so.
  if (match !== 'jsonata') return match;
  return jsonataCondition({ RED, node, expression }, msg, inputs.message);
}

function send(call: Call, chipid: string): Promise<Reply> {
  const { client, config, inputs, msg, signal, onProgress } = call;
  return client.request(chipid, inputs.message as PushMessage, {
    match: matchOf(call),
    format: formatOf(config, msg),
    timeout: timeoutOf(config),
    replyTimeout: numberOf(config.replyTimeout, REPLY_TIMEOUT),
    datatype: config.datatype,
    signal,
    onProgress,
  });
}

/** Pushes to a device and waits for its reply (endpoint 3, section 6). */
export const runtime = actionRuntime<RequestConfig, Inputs>({
  api: 'open',
  inputs: inputsOf,
  async perform(call) {
    const { client, msg } = call;
    return aboutDevice(call, async (chipid) => {
      const reply = await send(call, chipid);
      const set = addName({ ...fieldsOf(reply), chipid }, client, chipid, msg);
      return { set, remove: ['answer', 'replayed', 'altered', 'uncertain'] };
    });
  },
});
