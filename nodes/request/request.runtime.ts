import type { Node, NodeAPI } from 'node-red';
import type { PushMessage, Reply, RequestMatch } from '../../src/for-nodes';
import { notConfigured } from '../../src/input';
import { defineAction, type ActionCall } from '../common/action';
import { BoundedExpression, MAX_READ } from '../common/bounded-expression';
import { aboutDevice, addName, formatOf, timeoutOf } from '../common/device-call';
import { isObject } from '../common/shared.config';
import { staleFields, typeFields } from '../common/upload-message';
import { DEFAULTS, type RequestConfig } from './request.config';

type Input = 'chipid' | 'message' | 'equals';
type Call = ActionCall<RequestConfig, Input>;

/** Seconds that the expression may take for one upload. */
const LIMIT = 1;

const warned = new WeakSet<Node>();

/**
 * Makes a condition of a JSONata expression over `{upload, request}`: `upload` is the decoded upload, `request`
 * the message that was pushed. If what was pushed is an object, `request` has its properties, too, so that
 * `request.id` is found whether it is the message's or the payload's.
 * @throws DeviceCloudError `NOT_CONFIGURED` if the expression is invalid
 */
function jsonataCondition({ RED, node, config, msg, inputs: { message } }: Call): RequestMatch {
  const prepared = prepare(RED, node, config.expression);
  const isPlain = isObject(message) && !Buffer.isBuffer(message);
  const request = { ...(isPlain && message), ...msg };
  return async (upload, { body, chipid }, patterns) => {
    if (body.length > MAX_READ) throw tooLong(node, chipid, body.length);
    return (await prepared.evaluate({ upload, request }, patterns)) === true;
  };
}

function tooLong(node: Node, chipid: string, bytes: number): Error {
  const why = `an upload of device ${chipid} has ${bytes} bytes, the expression reads at most ${MAX_READ}`;
  if (!warned.has(node)) {
    warned.add(node);
    node.warn(
      `This is not the reply: ${why}. ` +
        'Shorten what the device uploads, or recognise the reply by a property or a pattern. ' +
        'This is logged once.',
    );
  }
  return new Error(why);
}

function prepare(RED: NodeAPI, node: Node, expression: string): BoundedExpression {
  try {
    return new BoundedExpression(RED, node, expression, LIMIT);
  } catch (thrown) {
    // JSONata throws objects that are no errors.
    const { message = '' } = thrown as { message?: string };
    throw notConfigured(`The expression that recognises the reply is not JSONata: ${message}`);
  }
}

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

function matchOf(call: Call): RequestMatch {
  const { config, inputs } = call;
  const { match, property, pattern } = config;
  if (match === 'property') return { property, equals: inputs.equals };
  if (match === 'pattern') return { pattern };
  // What is no choice is left to the client, which says so.
  return match === 'jsonata' ? jsonataCondition(call) : match;
}

/** Pushes to a device and waits for its reply (endpoint 3, section 6). */
export const action = defineAction<RequestConfig, Input>({
  api: 'open',
  defaults: DEFAULTS,
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
