import type { PushMessage, Reply, RequestMatch } from '../../src/index';
import { defineAction, type ActionCall, type CallFields } from '../common/action';
import { aboutEach, devicesOfCall } from '../common/device-call';
import { formatOf } from '../common/inputs';
import { type DeviceType, staleFields, typeFields } from '../common/device-types';
import { CHOICES, DEFAULTS, type RequestConfig } from './request.config';

type Input = 'chipid' | 'message' | 'equals';
type Call = ActionCall<RequestConfig, Input>;

function fieldsOf({ payload, upload, elapsed, answer, statusCode, uncertain }: Reply): CallFields {
  return {
    payload,
    elapsed,
    timestamp: upload.timestamp,
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
    const { client, config, inputs, msg, onProgress, signal, types } = call;
    const typeOf = (chipid: string): DeviceType | undefined => types.of(client.fleet, chipid);
    const format = formatOf(config, msg);
    const match = matchOf(call);
    return aboutEach(
      call,
      devicesOfCall(call, inputs.chipid),
      { signal, onProgress, timeout: 1000 * Number(config.timeout) },
      async (chipid, shared) => {
        const type = typeOf(chipid);
        if (type?.problem) throw type.problem;
        const reply = await client.request(chipid, inputs.message as PushMessage, {
          ...shared,
          match,
          format,
          datatype: config.datatype,
          replyTimeout: 1000 * Number(config.replyTimeout),
          ...(type?.decode && { decode: type.decode }),
        });
        return { ...fieldsOf(reply), ...typeFields(type, reply.upload.body) };
      },
      (chipid) => ['answer', 'replayed', 'altered', 'uncertain', ...staleFields(typeOf(chipid))],
    );
  },
});
