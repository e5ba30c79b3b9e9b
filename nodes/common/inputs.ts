import type { Node, NodeAPI, NodeMessage } from 'node-red';
import type { ValueType } from './action.config';
import { propertyReader, type PropertyReader } from './property';

/**
 * The typed properties that a node reads for each message: name → the default if nothing is saved.
 * A property that is not in the table is not read, and its value is undefined.
 */
export type InputTable<K extends string> = Readonly<
  Partial<Record<K, readonly [value: string, type: ValueType]>>
>;

export type InputValues<K extends string> = Readonly<Partial<Record<K, unknown>>>;

/** Reads all inputs of a node. Returns a promise only if one of them needs it. */
export type ReadInputs<K extends string> = (
  msg: NodeMessage,
) => InputValues<K> | Promise<InputValues<K>>;

/** The device of every node that takes one (contract: `chipid` + `chipidType`). */
export const CHIPID_INPUT = { chipid: ['chipid', 'msg'] } as const;

const NOTHING: PropertyReader = { isAsync: false, read: () => undefined };

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Makes the reader of a node's inputs from its properties `x` and `xType`. */
export function inputReader<K extends string>(
  RED: NodeAPI,
  node: Node,
  table: InputTable<K>,
  config: object,
): ReadInputs<K> {
  const saved = config as Readonly<Record<string, unknown>>;
  const entries = Object.entries(table) as [K, readonly [string, ValueType]][];
  const readers = entries.map(([name, [usualValue, usualType]]) => {
    const value = textOf(saved[name] ?? usualValue);
    const type = (saved[`${name}Type`] ?? usualType) as ValueType;
    // An empty property has no value; an empty string is one.
    if (value === '' && type !== 'str' && type !== 'date') return NOTHING;
    return propertyReader(RED, node, name, value, type);
  });
  const collect = (values: readonly unknown[]): InputValues<K> => {
    const inputs: Partial<Record<K, unknown>> = {};
    entries.forEach(([name], index) => (inputs[name] = values[index]));
    return inputs;
  };

  if (readers.some((reader) => reader.isAsync)) {
    return async (msg) => collect(await Promise.all(readers.map((reader) => reader.read(msg))));
  }
  return (msg) => collect(readers.map((reader) => reader.read(msg)));
}
