import type { Node, NodeAPI, NodeMessage } from 'node-red';
import { invalidInput } from '../../src/input';
import { messageOf } from './errors';
import type { ValueType } from './shared.config';

/** The values of a node's inputs. An input that is not read is undefined. */
export type InputValues<K extends string> = Readonly<Partial<Record<K, unknown>>>;

/** Reads all inputs of a node. Returns a promise only if one of them needs it. */
export type ReadInputs<K extends string> = (
  msg: NodeMessage,
) => InputValues<K> | Promise<InputValues<K>>;

const PLAIN = /^[A-Za-z_$][\w$]*$/;

/**
 * Makes the reader of a property `x` with its `xType`. Decides once what cannot change between messages.
 * @returns a function that returns a promise for the types of {@link isAsync}
 * @throws an error of the JSONata parser if the expression is invalid
 */
function propertyReader(
  RED: NodeAPI,
  node: Node,
  label: string,
  value: string,
  type: ValueType,
): (msg: NodeMessage) => unknown {
  const unreadable = (error: unknown): Error =>
    invalidInput(`The property "${label}" could not be read: ${messageOf(error)}`);
  if (type === 'jsonata') {
    // Prepared once, since that costs far more than evaluating it.
    const expression = RED.util.prepareJSONataExpression(value, node);
    return (msg) =>
      new Promise((resolve, reject) => {
        RED.util.evaluateJSONataExpression(expression, msg, (error, result: unknown) => {
          if (error) reject(unreadable(error));
          else resolve(result);
        });
      });
  }
  if (isAsync(type))
    return (msg) =>
      new Promise((resolve, reject) => {
        RED.util.evaluateNodeProperty(value, type, node, msg, (error, result) => {
          if (error) reject(unreadable(error));
          else resolve(result as unknown);
        });
      });
  if (type === 'msg' && PLAIN.test(value))
    return (msg) => (Object.hasOwn(msg, value) ? msg[value] : undefined);
  return (msg) => {
    try {
      return RED.util.evaluateNodeProperty(value, type, node, msg) as unknown;
    } catch (error) {
      // Of a message without "device", "device.id" is missing as much.
      if (type === 'msg' && error instanceof TypeError) return undefined;
      throw unreadable(error);
    }
  };
}

const isAsync = (type: ValueType): boolean => ['jsonata', 'flow', 'global'].includes(type);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Makes the reader of a node's inputs `x` from its properties `x` and `xType`. */
export function inputReader<K extends string>(
  RED: NodeAPI,
  node: Node,
  names: readonly K[],
  config: object,
): ReadInputs<K> {
  const saved = config as Readonly<Record<string, unknown>>;
  const readers = names.map((name) => {
    const value = textOf(saved[name]);
    const type = saved[`${name}Type`] as ValueType;
    // An empty property has no value; an empty string is one.
    if (value === '' && type !== 'str' && type !== 'date') return undefined;
    return { isSlow: isAsync(type), read: propertyReader(RED, node, name, value, type) };
  });
  const collect = (values: readonly unknown[]): InputValues<K> => {
    const inputs: Partial<Record<K, unknown>> = {};
    names.forEach((name, index) => (inputs[name] = values[index]));
    return inputs;
  };
  const readAll = (msg: NodeMessage): unknown[] => readers.map((reader) => reader?.read(msg));
  if (readers.some((reader) => reader?.isSlow))
    return async (msg) => collect(await Promise.all(readAll(msg)));
  return (msg) => collect(readAll(msg));
}
