import type { Node, NodeAPI, NodeMessage } from 'node-red';
import { invalidInput } from '../../src/input';
import { BoundedExpression } from './bounded-expression';
import { messageOf } from './errors';
import type { ValueType } from './shared.config';

/** The values of a node's inputs. An input that is not read is undefined. */
export type InputValues<K extends string> = Readonly<Partial<Record<K, unknown>>>;

/** Reads all inputs of a node. Returns a promise only if one of them needs it. */
export type ReadInputs<K extends string> = (
  msg: NodeMessage,
) => InputValues<K> | Promise<InputValues<K>>;

/** Reads the value of one property of a node for a message. */
interface PropertyReader {
  /** Whether `read` returns a promise. */
  isAsync: boolean;
  read: (msg: NodeMessage) => unknown;
}

const PLAIN = /^[A-Za-z_$][\w$]*$/;

const unreadable = (label: string, error: unknown): Error =>
  invalidInput(`The property "${label}" could not be read: ${messageOf(error)}`);

/** Seconds that an expression may take for one message: it may read what a device has uploaded. */
const LIMIT = 10;

/** Prepares the expression once, since that costs far more than evaluating it. */
function jsonataReader(RED: NodeAPI, node: Node, label: string, value: string): PropertyReader {
  const expression = new BoundedExpression(RED, node, value, LIMIT);
  return {
    isAsync: true,
    read: (msg) =>
      expression.evaluate(msg).catch((error: unknown) => {
        throw unreadable(label, error);
      }),
  };
}

function contextReader(
  RED: NodeAPI,
  node: Node,
  label: string,
  value: string,
  type: 'flow' | 'global',
): PropertyReader {
  return {
    isAsync: true,
    read: (msg) =>
      new Promise((resolve, reject) => {
        RED.util.evaluateNodeProperty(value, type, node, msg, (error, result) => {
          if (error) reject(unreadable(label, error));
          else resolve(result as unknown);
        });
      }),
  };
}

/**
 * Makes the reader of a property `x` with its `xType`. Decides once what cannot change between messages.
 * @throws an error of the JSONata parser if the expression is invalid
 */
function propertyReader(
  RED: NodeAPI,
  node: Node,
  label: string,
  value: string,
  type: ValueType,
): PropertyReader {
  if (type === 'jsonata') return jsonataReader(RED, node, label, value);
  if (type === 'flow' || type === 'global') return contextReader(RED, node, label, value, type);
  if (type === 'msg' && PLAIN.test(value)) {
    return { isAsync: false, read: (msg) => (Object.hasOwn(msg, value) ? msg[value] : undefined) };
  }
  return {
    isAsync: false,
    read: (msg) => {
      try {
        return RED.util.evaluateNodeProperty(value, type, node, msg) as unknown;
      } catch (error) {
        // Of a message without "device", "device.id" is missing as much.
        if (type === 'msg' && error instanceof TypeError) return undefined;
        throw unreadable(label, error);
      }
    },
  };
}

const NOTHING: PropertyReader = { isAsync: false, read: () => undefined };

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
    if (value === '' && type !== 'str' && type !== 'date') return NOTHING;
    return propertyReader(RED, node, name, value, type);
  });
  const collect = (values: readonly unknown[]): InputValues<K> => {
    const inputs: Partial<Record<K, unknown>> = {};
    names.forEach((name, index) => (inputs[name] = values[index]));
    return inputs;
  };
  if (readers.some((reader) => reader.isAsync)) {
    return async (msg) => collect(await Promise.all(readers.map((reader) => reader.read(msg))));
  }
  return (msg) => collect(readers.map((reader) => reader.read(msg)));
}
