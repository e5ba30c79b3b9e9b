import {
  APP_TYPE,
  DEVICE,
  DEVICE_CALL,
  MANY,
  MAX_MANY,
  MAX_SECONDS,
  WHEN,
  type DeviceCallConfig,
  type DeviceConfig,
  type ManyConfig,
  type WhenConfig,
} from '../shared.config';
import { prepareExplain } from './explain';
import {
  chipNumber,
  DYNAMIC,
  oneOf,
  orDefault,
  seconds,
  typedInput,
  typedValidator,
  validator,
  wholeNumber,
} from './fields';
import { current, field, fieldValue, onChange, opened, show, ticked } from './form';
import { deviceType, prepareDeviceRow } from './picker';
import type { EditorNode, EditorNodeBase, PropertyDefinition } from './red';
import { t } from './texts';

const always = (): boolean => true;

type Applies<T> = (node: EditorNode<T>) => boolean;
type NumberProperty<T> = PropertyDefinition<T, number | string>;

// One function for each property, since tools read the names of the properties where a node lists them.

/** The property `many` of a node that may call several devices. */
export const manyProperty = <T>(): PropertyDefinition<T, boolean> => ({ value: MANY.many });

function countProperty<T extends ManyConfig>(
  value: number | string,
  label: string,
  applies: Applies<T>,
): NumberProperty<T> {
  const isUsed = (node: EditorNode<T>): boolean => applies(node) && ticked(node, 'many');
  return { value, label, validate: validator<T>(orDefault(wholeNumber(1, MAX_MANY)), isUsed) };
}

/** How many devices a message may name. `applies`: whether the node calls devices as it is set. */
export const limitProperty = <T extends ManyConfig>(
  applies: Applies<T> = always,
): NumberProperty<T> => countProperty(MANY.limit, t('common.label.limit'), applies);

/** How many of them are called side by side. */
export const atOnceProperty = <T extends ManyConfig>(
  applies: Applies<T> = always,
): NumberProperty<T> => countProperty(MANY.atOnce, t('common.label.at-once'), applies);

/** When a command is sent. `applies`: whether the command may wait as the node is set. */
export function whenProperty<T extends ManyConfig & WhenConfig>(
  applies: Applies<T> = always,
): PropertyDefinition<T, T['when']> {
  const right = orDefault(oneOf('now', 'online', 'upload'));
  const whenError = (when: string, node: EditorNode<T>): string | undefined =>
    right(when) ??
    (ticked(node, 'many') && when !== 'now' && when !== '' ? t('common.error.when') : undefined);
  return {
    value: WHEN.when,
    label: t('common.label.when'),
    validate: validator(whenError, applies),
  };
}

/** How long a command waits. */
export function expiresProperty<T extends ManyConfig & WhenConfig>(
  applies: Applies<T> = always,
): NumberProperty<T> {
  const waits = (node: EditorNode<T>): boolean => {
    const when = current(node, 'when');
    return applies(node) && when !== '' && when !== 'now';
  };
  return {
    value: WHEN.expires,
    label: t('common.label.expires'),
    validate: validator<T>(orDefault(seconds(0.001, MAX_SECONDS)), waits),
  };
}

/** Shows the rows of several devices where they apply. @returns what to call when that may have changed */
export function prepareMany(applies: () => boolean = always): () => void {
  const adapt = (): void => {
    const many = field('many').is(':checked');
    show('#many-row', applies());
    show('#many-note', many);
    show('.many-only', applies() && many);
  };
  onChange(['many'], adapt);
  return adapt;
}

const canWait = (applies: () => boolean): boolean => applies() && !field('many').is(':checked');

/** Shows the rows of a command that may wait where they apply. @returns as {@link prepareMany} */
export function prepareWhen(applies: () => boolean = always): () => void {
  const adapt = (): void => {
    const wait = canWait(applies);
    show('#when-row', wait);
    show('#expires-row', wait && fieldValue(field('when')) !== 'now');
  };
  onChange(['many', 'when'], adapt);
  return adapt;
}

/** As `oneditsave`: a choice that is not shown must not stop the node. */
export function saveWhen(applies: () => boolean = always): void {
  if (!canWait(applies)) field('when').val('now');
}

/** The properties of every node. */
export interface Named {
  name: string;
}

/** The property `app`: the config node. */
export function appProperty(): { value: ''; type: string; required: true; label: string } {
  return { value: '', type: APP_TYPE, required: true, label: t('common.label.app') };
}

/**
 * Selects the only application for a new node, since there is nothing to choose from. Called by
 * Node-RED as `onadd`, when the node comes from the palette.
 */
export function selectOnlyApp(this: EditorNode<{ app: string }>): void {
  const apps: string[] = [];
  RED.nodes.eachConfig(({ id, type, z, d }) => {
    const reachable = z === undefined || z === '' || z === this.z;
    if (type === APP_TYPE && reachable && d !== true) apps.push(id);
  });
  const [only, ...others] = apps;
  if (only !== undefined && others.length === 0) this.app = only;
}

/** The property `chipid`. `needed`: whether the node calls one device. */
export function chipidProperty<T extends DeviceConfig>(
  needed?: (node: EditorNode<T>) => boolean,
): PropertyDefinition<T, string> {
  return {
    value: DEVICE.chipid,
    label: t('common.label.device'),
    validate: typedValidator<T>('chipidType', { str: chipNumber }, needed),
  };
}

/** The property `timeout` of a node that waits for the answer of a device. */
export const timeoutProperty = <T extends DeviceCallConfig>(): PropertyDefinition<
  T,
  number | string
> => ({
  value: DEVICE_CALL.timeout,
  label: t('common.label.timeout'),
  validate: validator(orDefault(seconds(0.001, MAX_SECONDS))),
});

/** Makes the application's and the device's row work. Comes first in `oneditprepare`. */
export function prepareDevice(node: EditorNodeBase): void {
  opened(node);
  typedInput('chipid', ['msg', deviceType(), ...DYNAMIC]);
  prepareDeviceRow();
  prepareExplain(node);
}

/** The chip number of a node that always calls the same device. */
export function fixedDevice(node: Partial<DeviceConfig>): string {
  return node.chipidType === 'str' ? (node.chipid ?? '') : '';
}

/** A node's label: its name, else what it does and, if that is fixed, to which device. */
export function labelOf(name: string | undefined, text: string, device = ''): string {
  if (name) return name;
  return device === '' ? text : `${text} · ${device}`;
}

/** Node-RED shows a name in italics, and a node's own label upright. */
export function labelStyle(this: { name?: string }): string {
  return this.name ? 'node_label_italic' : '';
}

/** The text of the category in the palette. A definition names each property itself: tools that read it know no spread. */
export const categoryDescription = `${CATALOGUE}:palette.description`;
