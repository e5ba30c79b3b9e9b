import type { Node, NodeAPI } from 'node-red';
import { invalidInput } from '../../src/input';
import { mayWriteFlows, readingRoute } from '../common/admin';
import { MAX_READ } from '../common/bounded-expression';
import { messageOf } from '../common/errors';
import type { Handlers } from '../common/register';
import { isObject } from '../common/shared.config';
import { expressionDecoder } from './expression';
import type { TryRequest, TryResult } from './type.config';

/** Characters of an expression. */
const LONGEST = 65_536;

/** @throws DeviceCloudError `INVALID_INPUT` */
function readRequest(body: unknown): TryRequest {
  const { id, expression, hex, charset } = isObject(body) ? body : {};
  if (typeof expression !== 'string' || expression.length > LONGEST)
    throw invalidInput(`The expression must be text of at most ${LONGEST} characters.`);
  if (typeof hex !== 'string' || hex.length > 2 * MAX_READ || !/^(?:[0-9a-f]{2})*$/i.test(hex))
    throw invalidInput(`The upload must be at most ${MAX_READ} bytes in hexadecimal digits.`);
  return { id: String(id), expression, hex, charset: String(charset) };
}

async function tryExpression(
  RED: NodeAPI,
  { id, expression, hex, charset }: TryRequest,
): Promise<TryResult> {
  // A type that is new has no node yet: then only the environment of the process can be read.
  const node = RED.nodes.getNode(id) as Node | null;
  try {
    const decode = expressionDecoder(RED, node as Node, expression);
    return await decode(Buffer.from(hex, 'hex'), charset === 'gbk' ? 'gbk' : 'utf-8');
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** An expression can read environment variables and contexts, so it is evaluated only for users who may change flows. */
export const handlers = (RED: NodeAPI): Handlers<'try'> => ({
  try: readingRoute(
    async (request, response) => {
      // Another site's page cannot send JSON without being asked for its origin.
      const asked = readRequest(request.is('json') ? request.body : undefined);
      if (await mayWriteFlows(RED, request)) response.json(await tryExpression(RED, asked));
      else response.status(403).end();
    },
    () => 400,
  ),
});
