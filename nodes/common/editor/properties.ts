import {
  APP_TYPE,
  DATATYPES,
  TYPE_TYPE,
  DEVICE,
  DEVICE_CALL,
  MANY,
  MAX_MANY,
  MAX_SECONDS,
  MESSAGE,
  MESSAGE_CHOICES,
  NEW_DEVICE,
  readText,
  WHEN,
  WHEN_CHOICES,
  type Datatype,
  type DeviceConfig,
  type ManyConfig,
  type MessageConfig,
  type WhenConfig,
} from '../shared.config';
import { nameIn } from './devices';
import {
  checked,
  choice,
  flag,
  oneOf,
  prepared,
  revalidate,
  seconds,
  stringType,
  typed,
  wholeNumber,
} from './fields';
import { added, current, field, fieldValue, onChange, show, ticked } from './form';
import { groupType, prepareGroup } from './groups';
import { deviceType, prepareDeviceRow } from './picker';
import type { EditorNode, PropertyDefinition, TypeDefinition } from './red';
import { t } from './texts';

// One for each property, since tools read the names of the properties where a node lists them.

/** The properties of every node. */
export interface Named {
  name: string;
}

export const name = { value: '' } as const;

const always = (): boolean => true;

type Applies<T> = (node: EditorNode<T>) => boolean;
type NumberProperty<T> = PropertyDefinition<T, number | string>;

/** The config node. */
export const app = (): { value: ''; type: string; required: true; label: string } => ({
  value: '',
  type: APP_TYPE,
  required: true,
  label: t('common.label.app'),
});

/** The type of all devices of the node; none: the type that the book names for each. */
export const typeOfDevices = (): { value: ''; type: string; required: false; label: string } => ({
  value: '',
  type: TYPE_TYPE,
  required: false,
  label: t('common.label.deviceType'),
});

/**
 * The device.
 * @param types also `group` where it may be a group of the book
 * @param needed whether the node calls one device
 */
const device = <T extends DeviceConfig>(
  types: () => TypeDefinition[],
  needed?: Applies<T>,
): PropertyDefinition<T, string> => {
  const offered = () => [...types(), 'msg'];
  const { chipid: value } = NEW_DEVICE;
  const definition = typed<T>(value, 'common.label.device', 'chipidType', offered, needed);
  return prepared({ ...definition, missing: DEVICE.chipid }, prepareDeviceRow);
};

/** The device of a node that takes one. */
export const chipid = <T extends DeviceConfig>(needed?: Applies<T>) =>
  device<T>(() => [deviceType()], needed);

/** The device of a node that takes several. */
export const chipids = <T extends DeviceConfig>(needed?: Applies<T>) =>
  device<T>(() => [deviceType(), groupType()], needed);

export const chipidType = { value: NEW_DEVICE.chipidType, missing: DEVICE.chipidType };

const isGroup = (node: EditorNode<DeviceConfig>): boolean =>
  current(node, 'chipidType') === 'group';

/** Whether the node may call several devices for one message. */
export const many: PropertyDefinition<ManyConfig, boolean> = prepared(
  { ...flag(MANY.many, 'common.label.many'), applies: (node) => !isGroup(node) },
  (node) =>
    onChange(['many', 'chipid'], () => show('#many-note', ticked(node, 'many') && !isGroup(node))),
);

/** How many of several devices are called side by side. @param applies whether the node calls devices as it is set */
export const atOnce = <T extends ManyConfig>(applies: Applies<T> = always): NumberProperty<T> =>
  checked<T, number | string>(
    MANY.atOnce,
    'common.label.at-once',
    wholeNumber(1, MAX_MANY),
    (node) => applies(node) && (isGroup(node) || ticked(node, 'many')),
  );

/** When a command is sent. @param applies whether the command may wait as the node is set */
export const when = <T extends WhenConfig>(
  applies: Applies<T> = always,
): PropertyDefinition<T, T['when']> =>
  choice<T, T['when']>(WHEN.when, 'common.label.when', WHEN_CHOICES.when, applies);

const isLater =
  <T extends WhenConfig>(applies: Applies<T>): Applies<T> =>
  (node) =>
    applies(node) && !['', 'now'].includes(current(node, 'when'));

/** Whether a command takes the place of one like it that waits. */
export const replace = <T extends WhenConfig>(
  applies: Applies<T> = always,
): PropertyDefinition<T, boolean> => ({
  ...flag(WHEN.replace, 'common.label.replace'),
  applies: isLater(applies),
});

/** How long a command waits. */
export const expires = <T extends WhenConfig>(applies: Applies<T> = always): NumberProperty<T> =>
  checked<T, number | string>(
    WHEN.expires,
    'common.label.expires',
    seconds(0.001, MAX_SECONDS),
    isLater(applies),
  );

/** How long the node waits for an answer. */
export const timeout = <T>(usual = DEVICE_CALL.timeout): NumberProperty<T> =>
  checked<T, number | string>(usual, 'common.label.timeout', seconds(0.001, MAX_SECONDS));

/** How many bytes a text typed by hand is when pushed, or its fault. */
type Payload = { bytes: number } | { error: string };

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function hexBytes(text: string): Payload {
  const digits = text.replace(/ /g, '');
  const isHex = /^(?:[0-9a-f]{2})*$/i.test(digits);
  return isHex ? { bytes: digits.length / 2 } : { error: t('common.error.hex') };
}

function base64Bytes(text: string): Payload {
  if (!BASE64.test(text)) return { error: t('common.error.base64') };
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return { bytes: (text.length / 4) * 3 - padding };
}

/** Checks a text against the format of the push, by the rules of the library's `pushMessage`. */
function payloadOf(text: string, format: string): Payload {
  if (format === 'HEX') return hexBytes(text);
  return format === 'B64' ? base64Bytes(text) : { bytes: new TextEncoder().encode(text).length };
}

/** What is wrong with a message typed by hand, in the format that the node pushes. */
function messageError<T extends { format: string }>(
  text: string,
  node: EditorNode<T>,
): string | undefined {
  const payload = payloadOf(text, current(node, 'format'));
  return 'error' in payload ? payload.error : undefined;
}

/** Shows the byte count, or the fault, under a message typed by hand. */
function showNote(): void {
  const format = fieldValue(field('format'));
  const byHand = fieldValue(field('messageType')) === 'str' && format !== 'msg';
  const payload = payloadOf(field('message').typedInput('value'), format);
  const text = 'error' in payload ? payload.error : t('common.note.bytes', payload);
  $('#message-note')
    .text(byHand ? text : '')
    .toggleClass('device-cloud-wrong', 'error' in payload);
}

/** Makes the notes of the format and the message work. */
function prepareNotes(): void {
  onChange(['format'], () => {
    show('#format-note', fieldValue(field('format')) === 'msg');
    revalidate('message');
  });
  field('message').on('change', showNote).parent().on('input', showNote);
  showNote();
}

/** In which format a message is pushed. @param check what else may be wrong with it */
export const format = <T extends MessageConfig>(
  check: (value: string, node: EditorNode<T>) => string | undefined = () => undefined,
): PropertyDefinition<T, T['format']> => {
  const right = oneOf(...MESSAGE_CHOICES.format);
  return checked<T, T['format']>(
    MESSAGE.format,
    'common.label.format',
    (value, node) => check(value, node) ?? right(value),
  );
};

export const message = <T extends MessageConfig>(): PropertyDefinition<T, string> => {
  const types = (node: EditorNode<T>) => {
    const text = stringType((value) => messageError(value, node));
    return ['msg', text, 'num', 'bool', 'json', 'bin'];
  };
  return prepared(
    typed<T>(MESSAGE.message, 'common.label.message', 'messageType', types),
    prepareNotes,
  );
};

export const messageType = { value: MESSAGE.messageType };

/** How an upload becomes a payload. */
export const datatype = <T>(): PropertyDefinition<T, Datatype> =>
  choice<T, Datatype>('auto-detect', 'common.label.datatype', DATATYPES);

/**
 * Selects the only application for a new node, since there is nothing to choose from. Called by
 * Node-RED as `onadd`, when the node comes from the palette.
 */
export function onadd(this: EditorNode<{ app: string }>): void {
  added(this);
  const apps: string[] = [];
  RED.nodes.eachConfig(({ id, type, z, d }) => {
    const reachable = z === undefined || z === '' || z === this.z;
    if (type === APP_TYPE && reachable && d !== true) apps.push(id);
  });
  const [only, ...others] = apps;
  if (only !== undefined && others.length === 0) this.app = only;
}

/** A fixed device as a label shows it: by its name where that is known. */
export const deviceLabel = (appId: string | undefined, number: string): string =>
  nameIn(appId ?? '', number) || number;

/** The group of a node whose devices may be a group. */
export const group = prepared(
  checked<{ devices: string }>(
    '',
    'common.label.group',
    () => undefined,
    (node) => current(node, 'devices') === 'group',
  ),
  prepareGroup,
);

/** A group as a label shows it. */
export const groupLabel = (name: unknown): string => readText(name) || t('common.group.book');

/** The device or the group of a node that always calls the same, as its label shows it. */
export const fixedDevice = (node: Partial<DeviceConfig>): string => {
  const chipid = readText(node.chipid) ?? '';
  if (node.chipidType === 'group') return chipid;
  return node.chipidType === 'str' && chipid ? deviceLabel(node.app, chipid) : '';
};

/** Characters of a label that nobody has typed: a longer one runs into the next node. */
const LONGEST_LABEL = 23;
/** Of these, the device has as many as most chip numbers have, and what the text leaves. */
const LEAST_DEVICE = 8;

/** Numbers differ at their end, names at their beginning. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const isNumber = /^[0-9]+$/.test(text);
  return isNumber ? `…${text.slice(1 - length)}` : `${text.slice(0, length - 1)}…`;
}

/** A node's label: its name, else what it does, in the palette's word, and the devices that are fixed. */
export function labelOf(own: unknown, text: string, devices = ''): string {
  const name = readText(own);
  if (name) return name;
  if (devices === '') return cut(text, LONGEST_LABEL);
  const between = ' · ';
  const room = LONGEST_LABEL - between.length;
  const shown = cut(devices, Math.max(room - text.length, LEAST_DEVICE));
  return cut(text, room - shown.length) + between + shown;
}

/** Node-RED shows a name in italics, and a node's own label upright. */
export function labelStyle(this: { name?: string }): string {
  return this.name ? 'node_label_italic' : '';
}

/** The text of the category in the palette. A definition names each property itself: tools that read it know no spread. */
export const categoryDescription = `${CATALOGUE}:palette.description`;
