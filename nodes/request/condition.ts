import type { Node, NodeAPI, NodeMessage } from 'node-red';
import { DeviceCloudError } from '../../src/index';
import { isObject } from '../common/values';
import { boundExpression } from './bounded-expression';

/** Judges a decoded upload. */
export type Condition = (upload: unknown) => Promise<boolean>;

/**
 * Makes a condition of a JSONata expression over `{upload, request}`: `upload` is the decoded upload, `request`
 * the message that was pushed. If what was pushed is an object, `request` has its properties, too, so that
 * `request.id` is found whether it is the message's or the payload's. One call must end before the next.
 * @throws DeviceCloudError `NOT_CONFIGURED` if the expression is invalid
 */
export function jsonataCondition(
  { RED, node, expression }: { RED: NodeAPI; node: Node; expression: string },
  msg: NodeMessage,
  message: unknown,
): Condition {
  const prepared = prepare(RED, node, expression);
  const begin = boundExpression(prepared);
  const isPlain = isObject(message) && !Buffer.isBuffer(message);
  const request = { ...(isPlain && message), ...msg };
  return (upload) =>
    new Promise((resolve, reject) => {
      const data = { upload, request } as unknown as NodeMessage;
      begin();
      RED.util.evaluateJSONataExpression(prepared, data, (error, result: unknown) => {
        if (error) reject(error);
        else resolve(result === true);
      });
    });
}

function prepare(RED: NodeAPI, node: Node, expression: string) {
  try {
    return RED.util.prepareJSONataExpression(expression, node);
  } catch (thrown) {
    // JSONata throws objects that are no errors.
    const { message = '' } = thrown as { message?: string };
    throw new DeviceCloudError(
      'NOT_CONFIGURED',
      `The expression that recognises the reply is not JSONata: ${message}`,
    );
  }
}
