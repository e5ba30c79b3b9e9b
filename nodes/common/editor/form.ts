import { describedText, readFlag, readText, typedText } from '../shared.config';
import type { EditorNode, EditorNodeBase } from './red';

/** What a property means that a flow written by hand leaves out. */
export function usual(type: string, property: string): unknown {
  const definition = RED.nodes.getType(type).defaults[property];
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
export function show(rows: string | JQuery, visible: boolean): void {
  // `toggle` on the argument's type alone: a selector and a set have the same method.
  (typeof rows === 'string' ? $(rows) : rows).toggle(visible);
}

/** Nodes from the palette whose dialog has not been opened yet. */
const unopened = new Set<string>();

/** Called when a node comes from the palette. */
export const added = (node: EditorNodeBase): Set<string> => unopened.add(node.id);

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
  // A configuration is no node before it has been added.
  const isNew = unopened.delete(node.id) || !RED.nodes.node(node.id);
  if (isNew) markWhatIsLeft(input(node, 'name').closest('form'));
  for (const property of Object.keys(RED.nodes.getType(node.type).defaults)) {
    const value = usual(node.type, property);
    const element = input(node, property);
    element.closest('form').data('editing', node.id);
    const { [property]: saved, [`${property}Type`]: type } = node as Record<string, unknown>;
    const isText = typeof value === 'number' || (typeof value === 'string' && value !== '');
    // As it is read at run time, where a flow that was written by hand has something else, or nothing.
    if (typeof value === 'boolean') element.prop('checked', readFlag(saved) ?? value);
    else if (typeof saved !== 'string' && (isText || (saved ?? '') !== '') && !Array.isArray(value))
      element.val(readText(typedText(type, describedText(property, saved))) ?? String(value));
  }
  openSections(node);
  const { defaults } = RED.nodes.getType(node.type);
  for (const { prepare } of Object.values(defaults)) prepare?.(node);
  adaptRows(node);
}

/** Shows the row of each property while it applies, as the form is filled in. */
function adaptRows<T>(node: EditorNode<T>): void {
  const adapt = (): void => {
    for (const [property, { applies }] of Object.entries(RED.nodes.getType(node.type).defaults))
      if (applies) input(node, property).closest('.form-row').toggle(applies(node));
  };
  input(node, 'name').closest('form').on('change', adapt);
  adapt();
}

/** Opens each folded section in which something is set, so that what a saved flow uses is seen at once. */
function openSections<T>(node: EditorNode<T>): void {
  for (const section of input(node, 'name').closest('form').find('.device-cloud-more').toArray()) {
    const fields = $(section).find('input, select').toArray();
    const isOpened = fields.some((element) => isSet(node, element));
    $(section).prop('open', isOpened);
  }
}

/** Whether a field shows something unlike the default. */
function isSet<T>(node: EditorNode<T>, element: HTMLElement): boolean {
  const property = element.id.replace(/^node-(config-)?input-/, '');
  const isProperty = property in RED.nodes.getType(node.type).defaults;
  // A credential is no property of the node.
  const value = isProperty ? node[property as keyof T] : fieldValue($(element));
  const text = value === undefined ? '' : String(value);
  return text !== '' && text !== String(usual(node.type, property));
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
