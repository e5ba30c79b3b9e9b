import type { Node, NodeAPI, NodeMessage } from 'node-red';
import type { RequestMatch } from '../../src/for-nodes';
import { notConfigured } from '../../src/input';
import { BoundedExpression, MAX_READ } from '../common/bounded-expression';
import { isObject } from '../common/shared.config';

/** Seconds that the expression may take for one upload. */
const LIMIT = 1;

/** The nodes whose log says that an upload was too long. */
const warned = new WeakSet<Node>();

/**
 * Makes a condition of a JSONata expression over `{upload, request}`: `upload` is the decoded upload, `request`
 * the message that was pushed. If what was pushed is an object, `request` has its properties, too, so that
 * `request.id` is found whether it is the message's or the payload's.
 * @throws DeviceCloudError `NOT_CONFIGURED` if the expression is invalid
 */
export function jsonataCondition(
  { RED, node, expression }: { RED: NodeAPI; node: Node; expression: string },
  msg: NodeMessage,
  message: unknown,
): RequestMatch {
  const prepared = prepare(RED, node, expression);
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
