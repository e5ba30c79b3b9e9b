import { isDeepStrictEqual } from 'node:util';
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import {
  type Book,
  chipidOf,
  type DeviceCloudClient,
  invalidInput,
  notConfigured,
  parseChipid,
  parseChipids,
  parseFormat,
  type PushFormat,
  show,
  type WaitingSelection,
} from '../../src/index';
import { messageOf } from './errors';
import {
  isObject,
  MAX_MANY,
  type DeviceConfig,
  type ManyConfig,
  type MessageConfig,
  type ValueType,
} from './shared.config';

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

/**
 * Refuses a message without the property that the node reads, as the first one of a flow often is.
 * @param remedy what to do about it
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function checkGiven(config: object, name: string, value: unknown, remedy: string): void {
  const { [name]: property, [`${name}Type`]: type } = config as Readonly<Record<string, unknown>>;
  if (value === undefined && type === 'msg' && typeof property === 'string' && property !== '')
    throw invalidInput(`msg.${property} is missing: ${remedy}.`);
}

/** Reads the chip number of a call, and says where it is missing. */
export function readDevice(config: object, value: unknown): string {
  const { chipidType } = config as Partial<DeviceConfig>;
  const remedy = "set it to the device's chip number, or choose a device in the node";
  checkGiven(config, 'chipid', value, remedy);
  if (value === '' && chipidType === 'str')
    throw invalidInput('The node has no device: choose one.');
  return parseChipid(value);
}

/** The device of a message that is about a single one; undefined if it is not, or has an invalid number. */
export const deviceIn = (config: object, value: unknown): string | undefined =>
  (config as Partial<DeviceConfig>).chipidType === 'group' ? undefined : chipidOf(value);

const NO_BOOK =
  'The application has no device book, so it has no groups: name a CSV file in its configuration.';

/**
 * The devices of a node that is set to a group of the book; otherwise the value as it is.
 * @throws DeviceCloudError `INVALID_INPUT` if the group is unknown or empty
 */
export function devicesOf(client: DeviceCloudClient, config: object, value: unknown): unknown {
  if ((config as Partial<DeviceConfig>).chipidType !== 'group') return value;
  const { book } = client.fleet;
  if (!book) throw invalidInput(NO_BOOK);
  const devices =
    typeof value === 'string' && value !== '' ? book.file.groups.get(value.trim()) : undefined;
  if (devices) return devices;
  throw invalidInput(
    value === undefined || value === ''
      ? 'The node has no group: choose one.'
      : `No device of the device book is in the group ${show(value)}, so nothing was sent.`,
  );
}

/**
 * The devices of a group of the book, or of the whole book, for a node that follows them.
 * @param group empty: all devices of the book
 * @throws DeviceCloudError `NOT_CONFIGURED` without a book
 */
export function groupFollower(
  { fleet: { book } }: DeviceCloudClient,
  group: string,
): { chipids: () => Set<string>; onChange: (listener: () => void) => () => void } {
  if (!book) throw notConfigured(NO_BOOK);
  const name = group.trim();
  return {
    chipids: () => new Set(name === '' ? book.file.devices.keys() : book.file.groups.get(name)),
    onChange: (listener) => book.onChange(listener),
  };
}

/** Whether a node calls several devices for one message. */
export function isForMany(config: object): boolean {
  const { many, chipidType } = config as Partial<ManyConfig & DeviceConfig>;
  return many === true || chipidType === 'group';
}

/**
 * The devices of a message, each once: one of a node that takes only one. The whole list is read before anything is sent.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function chipidsOf(client: DeviceCloudClient, config: object, value: unknown): string[] {
  const devices = devicesOf(client, config, value);
  if (!Array.isArray(devices)) return [readDevice(config, devices)];
  if (!isForMany(config))
    throw invalidInput(
      'The chip number is an array. Allow several devices in the node, or split the array first.',
    );
  if (devices.length <= MAX_MANY) return [...new Set(parseChipids(devices))];
  throw invalidInput(
    `The array has ${devices.length} chip numbers, and the node takes at most ${MAX_MANY} at once. ` +
      'Nothing was sent. Send fewer.',
  );
}

/** Which waiting commands `msg.cancel` means. @throws DeviceCloudError `INVALID_INPUT` */
export function selectionOf(cancel: unknown): WaitingSelection {
  if (cancel === 'all') return { all: true };
  try {
    return { chipids: Array.isArray(cancel) ? cancel.map(parseChipid) : [parseChipid(cancel)] };
  } catch {
    throw invalidInput(
      `msg.cancel must be a chip number, an array of them, or "all", but is ${show(cancel)}. Nothing was cancelled.`,
    );
  }
}

/** The format of a push: the node's, or the message's. */
export function formatOf({ format }: MessageConfig, { format: given }: NodeMessage): PushFormat {
  if (format !== 'msg') return format;
  if (given === undefined)
    throw invalidInput(
      'msg.format is missing: set it to MSG, HEX, B64, AT or LUA, or choose a format in the node.',
    );
  return parseFormat(given);
}

/** The other devices that a message was about before, by what nodes have put on it. */
const devicesBefore = ({ chipid, topic, device }: NodeMessage, now: string): string[] =>
  [chipid, topic, isObject(device) ? device['chipid'] : undefined].flatMap((value) => {
    const before = chipidOf(value);
    return before === undefined || before === now ? [] : before;
  });

/**
 * Adds the device's name and its row of the book to the fields of a message about it, unless the message has its own. What a
 * node has put there about another device is not its own.
 */
export function addName(
  fields: Record<string, unknown>,
  { fleet }: DeviceCloudClient,
  chipid: string,
  msg: NodeMessage,
): Record<string, unknown> {
  const { name, device } = msg;
  const before = name === undefined && device === undefined ? [] : devicesBefore(msg, chipid);
  const isOther = name !== undefined && before.some((other) => fleet.nameOf(other) === name);
  const found = isOther || name === undefined ? fleet.nameOf(chipid) : undefined;
  // Even if undefined, in the place of another device's.
  if (found !== undefined || isOther) fields['name'] = found;
  const { book } = fleet;
  const isOtherRow = before.some((other) => isObject(device) && isRowOf(book, other, device));
  const row = isOtherRow || device === undefined ? book?.row(chipid) : undefined;
  if (row !== undefined || isOtherRow) fields['device'] = row;
  return fields;
}

const isRowOf = (book: Book | undefined, chipid: string, device: object): boolean =>
  isDeepStrictEqual(book?.row(chipid), device);
