// What both halves of the nodes share: properties that several have, with their defaults, and how values of
// properties are read. Nothing here needs Node.js.

export const APP_TYPE = 'device-cloud-app';

/** The topic of changes to a device book, for the editor: `{id}` of its application. */
export const BOOK_TOPIC = 'device-cloud/book';

/** What the devices of one type send and have. */
export const CLUSTER_TYPE = 'device-cloud-cluster';
export const TYPE_TYPE = 'device-cloud-type';

/** The charset of text that is not valid UTF-8 in an upload, and of text pushed over the channel. */
export const CHARSETS = ['utf-8', 'gbk'] as const;
export type Charset = (typeof CHARSETS)[number];

/** The time zone is learned from uploads that came both ways. */
export const AUTO_ZONE = 'auto';

/** The first of a few words: the default of a property that must be one of them. */
export const firstOf = <T extends string>(choices: readonly [T, ...T[]]): T => choices[0];

export type ChipidType = 'group' | 'msg' | 'str' | 'flow' | 'global' | 'env' | 'jsonata';

/** How an uploaded body becomes a payload. */
export const DATATYPES = ['auto-detect', 'buffer', 'utf8', 'json', 'base64'] as const;
export type Datatype = (typeof DATATYPES)[number];

/** Type of a typedInput whose value is read when a message arrives. */
export type ValueType = ChipidType | 'num' | 'bool' | 'json' | 'bin' | 'date';

/** The properties of a node whose devices may have a type, with their defaults. */
export const TYPED = {
  /** Id of the `device-cloud-type` of all its devices; empty: the type that the book names for each. */
  deviceType: '',
};
export type TypedConfig = typeof TYPED;

/**
 * The properties of every action node that calls one device: the application and the device. What a saved flow means that
 * leaves them out, and what the run time goes by.
 */
export const DEVICE = {
  /** Id of the `device-cloud-app` config node. */
  app: '',
  /** Chip number, or where to find it. */
  chipid: 'chipid',
  chipidType: 'msg' as ChipidType,
};
export type DeviceConfig = typeof DEVICE;

/** A node that is dragged in anew begins with the picker of devices. */
export const NEW_DEVICE = { chipid: '', chipidType: 'str' } as const;

/** The properties of every action node that waits for the answer of a device. */
export const DEVICE_CALL = {
  ...DEVICE,
  /** Seconds to wait: the service's own limit of 10 (section 8), plus the network. */
  timeout: 12 as number | string,
};
export type DeviceCallConfig = typeof DEVICE_CALL;

/** The most devices of one message, and so the maximum of `atOnce`. */
export const MAX_MANY = 10_000;

/** The properties of a node that may call several devices for one message. */
export const MANY = {
  ...DEVICE_CALL,
  /** Whether the device may be an array of chip numbers. */
  many: false,
  /** How many calls run at once. */
  atOnce: 16 as number | string,
};
export type ManyConfig = typeof MANY;

/** The properties of a node whose command may wait for its device. */
export const WHEN_CHOICES = { when: ['now', 'online', 'upload'] } as const;
export const WHEN = {
  when: firstOf(WHEN_CHOICES.when),
  /** Seconds that the command waits. */
  expires: 3600 as number | string,
  /** Whether it takes the place of one like it that waits. */
  replace: false,
};
export type WhenConfig = typeof WHEN;

/** The properties of a node that pushes a message. */
export const MESSAGE_CHOICES = { format: ['MSG', 'HEX', 'AT', 'LUA', 'B64', 'msg'] } as const;
export const MESSAGE = {
  /** `msg`: the format is in `msg.format`. */
  format: firstOf(MESSAGE_CHOICES.format),
  message: 'payload',
  messageType: 'msg' as ValueType,
};
export type MessageConfig = typeof MESSAGE;

/** The longest time that a timer can wait, in seconds. */
export const MAX_SECONDS = 2_147_483;

/** The limits of a time-out. */
export const SECONDS = { min: 0.001, max: MAX_SECONDS } as const;

/** The types that a typedInput of a node may have. */
export const VALUE_TYPES = [
  ...['msg', 'str', 'flow', 'global', 'env', 'jsonata', 'group'],
  ...['num', 'bool', 'json', 'bin', 'date'],
];

// How a property is read that is of another version, or was written by hand.

/** Reads a text: a string, or a number that has lost no digits. @returns undefined if the value is neither */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    return undefined;
  return String(value);
}

/** Reads a flag. @returns undefined if the value is not true or false */
export function readFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = readText(value)?.toLowerCase() ?? '';
  return /^(?:true|false|1|0)$/.test(text) ? text === 'true' || text === '1' : undefined;
}

/** Reads a list: an array, or a single text or number. @returns undefined if the value is neither */
export function readList(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as unknown[];
  if (typeof value === 'string') return value.split(/[\s,;]+/).filter((part) => part !== '');
  return typeof value === 'number' ? [value] : undefined;
}

/** Texts that describe a list. */
const DESCRIBED_LISTS = ['bytes', 'callbacks', 'limits', 'pins', 'sentinels'];

/** A description that was saved as the list or the object that it describes, as the text; anything else as it is. */
export function describedText(name: string, value: unknown): unknown {
  if (name === 'codes' || name === 'units') return isObject(value) ? JSON.stringify(value) : value;
  const between = name === 'limits' ? '\n' : ',';
  const isList = DESCRIBED_LISTS.includes(name) && Array.isArray(value);
  return isList && value.every((each) => readText(each) !== undefined)
    ? value.join(between)
    : value;
}

/** The text of a typedInput of such a type, if its value was saved instead; anything else as it is. */
export function typedText(type: unknown, value: unknown): unknown {
  const isJson = (type === 'json' || type === 'bin') && typeof value === 'object';
  return isJson || (type === 'bool' && typeof value === 'boolean') ? JSON.stringify(value) : value;
}

/** Whether a value has fields: an object, not an array or null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a text that has to be a JSON object; undefined if it is anything else. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What Node-RED replaces in the properties of a node when a flow starts; the second form is its older one. */
const VARIABLE = /^\$(?:\{(\S+)\}|\((\S+)\))$/;

/** The name of the environment variable that a property refers to; undefined if it is a value itself. */
export function variableName(value: unknown): string | undefined {
  const match = typeof value === 'string' ? VARIABLE.exec(value) : null;
  return match?.[1] ?? match?.[2];
}

/** Whether a property refers to an environment variable. */
export const isVariable = (value: unknown): boolean => variableName(value) !== undefined;
