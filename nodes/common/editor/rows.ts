/*
 * How the rows of a dialog work: how a property is shown, checked and read while its form is open, and the rows that have
 * nothing to do with a device.
 */
import {
  APP_TYPE,
  DATATYPES,
  DEVICE_CALL,
  describedText,
  parseJsonObject,
  readFlag,
  readText,
  SECONDS,
  TYPE_TYPE,
  typedText,
  type Datatype,
} from '../shared.config';
import type {
  EditorNode,
  EditorNodeBase,
  PropertyDefinition,
  ValidatorOptions,
  Validity,
} from './red';
import { said, t } from './texts';

const definitionsOf = ({ type }: EditorNodeBase) => RED.nodes.getType(type).defaults;

/** What a property means that a flow written by hand leaves out. */
export function usual(node: EditorNodeBase, property: string): unknown {
  const definition = definitionsOf(node)[property];
  return definition?.missing ?? definition?.value;
}

function input(node: EditorNodeBase, property: string): JQuery {
  const isConfig = RED.nodes.getType(node.type).category === 'config';
  return $(`#${isConfig ? 'node-config-input' : 'node-input'}-${property}`);
}

/** The form's field of a property. */
export const field = (property: string): JQuery => $(`#node-input-${property}`);

/** The value of a field of the open form. */
export function fieldValue(element: JQuery): string {
  const value = element.val();
  return typeof value === 'string' ? value : '';
}

/** Shows the rows that match, or hides them. */
export const show = (rows: string, visible: boolean): void => void $(rows).toggle(visible);

/** Nodes from the palette whose dialog has not been opened yet. */
const unopened = new Set<string>();

/** A field of a new node that is still empty is no mistake: it is marked once it has been left. */
function markWhatIsLeft(form: JQuery): void {
  form.addClass('device-cloud-new');
  form.on('focusout', '.form-row', ({ currentTarget }) => {
    $(currentTarget as HTMLElement).addClass('device-cloud-left');
  });
}

/**
 * Comes first in `oneditprepare`: says which node the open form belongs to, for `current`, shows the defaults of properties that
 * a flow written by hand leaves out, and makes the row of each property work.
 */
export function opened<T>(node: EditorNode<T>): void {
  const form = input(node, 'name').closest('form').data('editing', node.id);
  // A configuration is no node before it has been added.
  const isNew = unopened.delete(node.id) || !RED.nodes.node(node.id);
  if (isNew) markWhatIsLeft(form);
  const definitions = Object.entries(definitionsOf(node));
  for (const [property] of definitions) showSaved(node, property);
  for (const section of form.find('.device-cloud-more').toArray()) {
    const fields = $(section).find('input, select').toArray();
    // What a saved flow uses is seen at once.
    const isUsed = fields.some((each) => isSet(node, each));
    $(section).prop('open', isUsed);
  }
  for (const [, { prepare }] of definitions) prepare?.(node);
  /** Shows the row of each property while it applies, as the form is filled in. */
  const adapt = (): void => {
    for (const [property, { applies }] of definitions)
      if (applies) input(node, property).closest('.form-row').toggle(applies(node));
  };
  form.on('change', adapt);
  adapt();
}

/** `oneditprepare` of a node whose rows need nothing else. */
export function oneditprepare<T>(this: EditorNode<T>): void {
  opened(this);
}

/** Shows a property as it is read at run time, where a flow that was written by hand has something else, or nothing. */
function showSaved(node: EditorNodeBase, property: string): void {
  const value = usual(node, property);
  const element = input(node, property);
  const properties = node as EditorNodeBase & Record<string, unknown>;
  const { [property]: saved, [`${property}Type`]: type } = properties;
  const isText = typeof value === 'number' || (typeof value === 'string' && value !== '');
  if (typeof value === 'boolean') element.prop('checked', readFlag(saved) ?? value);
  else if (typeof saved !== 'string' && (isText || (saved ?? '') !== '') && !Array.isArray(value))
    element.val(readText(typedText(type, describedText(property, saved))) ?? String(value));
}

/** Whether a field shows something unlike the default. */
function isSet<T>(node: EditorNode<T>, element: HTMLElement): boolean {
  const property = element.id.replace(/^node-(config-)?input-/, '');
  // A credential is no property of the node.
  const value =
    property in definitionsOf(node) ? node[property as keyof T] : fieldValue($(element));
  const text = value === undefined ? '' : String(value);
  return text !== '' && text !== String(usual(node, property));
}

/** Whether a field is in the open form of a node. */
export const isOpen = (node: EditorNodeBase, element: JQuery): boolean =>
  element.length > 0 && element.closest('form').data('editing') === node.id;

/**
 * A property's value as a validator has to judge it: what the form says while it is this node's
 * form that is open, else what is saved. Node-RED validates other nodes too while a form is open.
 */
export function current<T>(node: EditorNode<T>, property: keyof T & string): string {
  const element = input(node, property);
  if (isOpen(node, element)) return fieldValue(element);
  return readText(describedText(property, node[property])) ?? '';
}

/** The same of a property that is a tick box. */
export function ticked<T>(node: EditorNode<T>, property: keyof T & string): boolean {
  const element = input(node, property);
  return isOpen(node, element) ? element.is(':checked') : readFlag(node[property]) === true;
}

/** Calls `adapt` now and whenever one of the fields changes. */
export function onChange(properties: string[], adapt: () => void): void {
  for (const property of properties) field(property).on('change', adapt);
  adapt();
}

/** Returns the fault of a text, or nothing if it is valid. */
export type Check = (value: string) => string | undefined;

/** The same where it depends on other properties of the node. */
export type NodeCheck<T> = (value: string, node: EditorNode<T>) => string | undefined;

type Validate<T> = (this: EditorNode<T>, value: unknown, options: ValidatorOptions) => Validity;

/** A chip number is at most 20 digits, and never loses one (see the library's `parseChipid`). */
export const chipNumber: Check = (value) =>
  /^[0-9]{1,20}$/.test(value) ? undefined : t('common.error.chipid');

export const notBlank: Check = (value) =>
  value.trim() === '' ? t('common.error.blank') : undefined;

/** What a number may be. */
interface Limits {
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
}

export const numberIn =
  ({ min, max, isWhole = false }: Limits): Check =>
  (value) => {
    const isNumber = (isWhole ? /^[0-9]+$/ : /^[0-9]*\.?[0-9]+$/).test(value);
    if (isNumber && Number(value) >= min && Number(value) <= max) return undefined;
    return t(isWhole ? 'common.error.whole' : 'common.error.seconds', { min, max });
  };

export const jsonObject: Check = (value) =>
  parseJsonObject(value) ? undefined : t('common.error.object');

export const oneOf =
  (...values: string[]): Check =>
  (value) =>
    values.includes(value) ? undefined : t('common.error.choice');

/** Turns a check into the validator of a property. `needed`: whether the node uses the property. */
export function validator<T>(
  check: NodeCheck<T>,
  needed: (node: EditorNode<T>) => boolean = () => true,
): Validate<T> {
  return function (value, options) {
    const text = readText(value ?? '');
    // What is of another kind makes the node invalid at run time, too, whether or not it is needed.
    const error = text === undefined ? t('common.error.value') : needed(this) && check(text, this);
    if (typeof error !== 'string') return true;
    return options.label === undefined ? error : said(options.label, error);
  };
}

/** A property that `check` judges while the node uses it, an empty one, too. */
export const required = <T, V extends number | string = string>(
  value: V,
  label: string,
  check: NodeCheck<T>,
  needed?: (node: EditorNode<T>) => boolean,
): PropertyDefinition<T, V> => ({
  value,
  label: t(label),
  ...(needed && { applies: needed }),
  validate: validator<T>(check, needed),
});

/** The same of a property that may be empty, or missing in a flow written by hand: the default applies. */
export const checked = <T, V extends number | string = string>(
  value: V,
  label: string,
  check: NodeCheck<T>,
  needed?: (node: EditorNode<T>) => boolean,
): PropertyDefinition<T, V> =>
  required<T, V>(
    value,
    label,
    (text, node) => (text === '' ? undefined : check(text, node)),
    needed,
  );

/** A number within limits. */
export const limited = <T>(
  value: number | string,
  label: string,
  limits: Limits,
  needed?: (node: EditorNode<T>) => boolean,
): PropertyDefinition<T, number | string> => checked(value, label, numberIn(limits), needed);

/** A property that is one of a few words, as the run time reads it whether or not it applies. */
export const choice = <T, V extends string = string>(
  value: V,
  label: string,
  choices: readonly V[],
  applies?: (node: EditorNode<T>) => boolean,
): PropertyDefinition<T, V> => ({
  ...checked<T, V>(value, label, oneOf(...choices)),
  ...(applies && { applies }),
});

/** A property that is a tick box. */
export const flag = (value: boolean, label: string) => ({
  value,
  label: t(label),
  validate: (saved: unknown, options: ValidatorOptions): Validity =>
    readFlag(saved || false) !== undefined || said(options.label ?? '', t('common.error.value')),
});

/** A property whose text describes a list or an object, and which may have been saved as that. */
export function described<T, V extends string>(
  name: string,
  definition: PropertyDefinition<T, V>,
): PropertyDefinition<T, V> {
  const { validate } = definition;
  return {
    ...definition,
    validate(value, options) {
      return validate?.call(this, describedText(name, value), options) ?? true;
    },
  };
}

/** A property whose row needs more to work. */
export const prepared = <T, V>(
  definition: PropertyDefinition<T, V>,
  prepare: (node: EditorNode<T>) => void,
): PropertyDefinition<T, V> => ({
  ...definition,
  prepare(node) {
    definition.prepare?.(node);
    prepare(node);
  },
});

/** The properties of every node. */
export interface Named {
  name: string;
}

export const name = { value: '' } as const;

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

/** How long the node waits for an answer. */
export const timeout = <T>(usual = DEVICE_CALL.timeout): PropertyDefinition<T, number | string> =>
  limited(usual, 'common.label.timeout', SECONDS);

/** How an upload becomes a payload. */
export const datatype = <T>(): PropertyDefinition<T, Datatype> =>
  choice<T, Datatype>('auto-detect', 'common.label.datatype', DATATYPES);

/**
 * Selects the only application for a new node, since there is nothing to choose from. Called by
 * Node-RED as `onadd`, when the node comes from the palette.
 */
export function onadd(this: EditorNode<{ app: string }>): void {
  unopened.add(this.id);
  const apps: string[] = [];
  RED.nodes.eachConfig(({ id, type, z, d }) => {
    const reachable = z === undefined || z === '' || z === this.z;
    if (type === APP_TYPE && reachable && d !== true) apps.push(id);
  });
  const [only, ...others] = apps;
  if (only !== undefined && others.length === 0) this.app = only;
}

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
