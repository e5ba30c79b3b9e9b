// What both halves of the nodes share: properties that several have, with their defaults, and how values of
// properties are read. Nothing here needs Node.js.

export const APP_TYPE = 'device-cloud-app';

/** The topic of changes to a device book, for the editor: `{id}` of its application. */
export const BOOK_TOPIC = 'device-cloud/book';

/** What the devices of one type send and have. */
export const TYPE_TYPE = 'device-cloud-type';

/** The charset of text that is not valid UTF-8 in an upload, and of text pushed over the channel. */
export const CHARSETS = ['utf-8', 'gbk'] as const;
export type Charset = (typeof CHARSETS)[number];

/** The time zone is learned from uploads that came both ways. */
export const AUTO_ZONE = 'auto';

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
export const WHEN = {
  when: 'now' as 'now' | 'online' | 'upload',
  /** Seconds that the command waits. */
  expires: 3600 as number | string,
  /** Whether it takes the place of one like it that waits. */
  replace: false,
};
export type WhenConfig = typeof WHEN;

/** The properties of a node that pushes a message. */
export const MESSAGE = {
  /** `msg`: the format is in `msg.format`. */
  format: 'MSG' as 'MSG' | 'HEX' | 'AT' | 'LUA' | 'B64' | 'msg',
  message: 'payload',
  messageType: 'msg' as ValueType,
};
export type MessageConfig = typeof MESSAGE;

/** The longest time that a timer can wait, in seconds. */
export const MAX_SECONDS = 2_147_483;

/**
 * The properties of a node, with the default of each that is missing, as in a flow of an older version or one written by
 * hand. An empty number is missing, too.
 */
export function withDefaults<C extends object>(saved: Partial<C>, defaults: C): C {
  const config: Record<string, unknown> = { ...saved };
  for (const [name, usual] of Object.entries(defaults)) {
    const value = config[name];
    const isEmpty = typeof value === 'string' && value.trim() === '' && typeof usual === 'number';
    if (value === undefined || value === null || isEmpty) config[name] = usual;
  }
  return config as C;
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
