import type { PushMessage, Reply, RequestMatch } from '../../src/for-nodes';
import { defineAction, type ActionCall } from '../common/action';
import { aboutDevice, addName, formatOf, timeoutOf } from '../common/device-call';
import { staleFields, typeFields } from '../common/upload-message';
import { CHOICES, DEFAULTS, type RequestConfig } from './request.config';

type Input = 'chipid' | 'message' | 'equals';
type Call = ActionCall<RequestConfig, Input>;

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

function matchOf({ config, inputs }: Call): RequestMatch {
  const { match, property, pattern } = config;
  if (match === 'property') return { property, equals: inputs.equals };
  return match === 'pattern' ? { pattern } : match;
}

/** Pushes to a device and waits for its reply (endpoint 3, section 6). */
export const action = defineAction<RequestConfig, Input>({
  api: 'open',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs: ({ match }) =>
    match === 'property' ? ['chipid', 'message', 'equals'] : ['chipid', 'message'],
  async perform(call) {
    const { client, config, inputs, msg, types, signal, onProgress } = call;
    return aboutDevice(call, inputs.chipid, async (chipid) => {
      const type = types.of(client, chipid);
      if (type?.problem) throw type.problem;
      const reply = await client.request(chipid, inputs.message as PushMessage, {
        ...timeoutOf(config),
        match: matchOf(call),
        format: formatOf(config, msg),
        replyTimeout: 1000 * Number(config.replyTimeout),
        datatype: config.datatype,
        ...(type?.decode && { decode: type.decode }),
        signal,
        onProgress,
      });
      const fields = { ...fieldsOf(reply), ...typeFields(type, reply.upload.body), chipid };
      const set = addName(fields, client, chipid, msg);
      return { set, remove: ['answer', 'replayed', 'altered', 'uncertain', ...staleFields(type)] };
    });
  },
});
