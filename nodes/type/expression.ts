import type { Node, NodeAPI } from 'node-red';
import { decodeUpload, type UploadDecoder } from '../../src/for-nodes';
import { oneLine, uploadText } from '../../src/input';
import { BoundedExpression, MAX_READ } from '../common/bounded-expression';

/** Seconds that the expression may take for one upload. */
const LIMIT = 1;

const LONGEST_MESSAGE = 200;

/** JSONata throws objects that are no errors. */
const messageOf = (thrown: unknown): string => {
  const { message } = (thrown ?? {}) as { message?: unknown };
  return oneLine(typeof message === 'string' ? message : String(thrown), LONGEST_MESSAGE);
};

/** A function of JSONata's own is an object with this property. */
const isFunction = (value: unknown): boolean =>
  typeof value === 'function' ||
  (typeof value === 'object' && value !== null && '_jsonata_lambda' in value);

/**
 * Makes the decoder of an expression over `{upload, text}`: `upload` is the JSON or the text that was uploaded, otherwise an
 * array of its bytes; `text` is undefined if it is not text. Evaluations end in bounded time, and follow one another.
 * @throws Error whose message continues a sentence
 */
export function expressionDecoder(RED: NodeAPI, node: Node, source: string): UploadDecoder {
  if (source.trim() === '') throw new Error('its expression is empty');
  let expression: BoundedExpression;
  try {
    expression = new BoundedExpression(RED, node, source, LIMIT);
  } catch (thrown) {
    throw new Error(`its expression is not JSONata: ${messageOf(thrown)}`, { cause: thrown });
  }
  return async (body, charset) => {
    if (body.length > MAX_READ)
      return {
        problem: `it has ${body.length} bytes, and the expression reads at most ${MAX_READ}`,
      };
    try {
      const text = uploadText(body, charset);
      const upload = text === undefined ? [...body] : decodeUpload(body, 'auto-detect', charset);
      const value = await expression.evaluate({ upload, text });
      if (value === undefined) return { problem: 'the expression gives nothing' };
      return isFunction(value) ? { problem: 'the expression gives a function' } : { value };
    } catch (thrown) {
      return { problem: `the expression failed: ${messageOf(thrown)}` };
    }
  };
}
