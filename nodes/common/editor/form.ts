import type { EditorNode, EditorNodeBase } from './red';

function input(node: EditorNodeBase, property: string): JQuery {
  const isConfig = RED.nodes.getType(node.type).category === 'config';
  return $(`#${isConfig ? 'node-config-input' : 'node-input'}-${property}`);
}

/** The form's field of a property. */
export function field(property: string): JQuery {
  return $(`#node-input-${property}`);
}

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

/**
 * Comes first in `oneditprepare`: says which node the open form belongs to, for `current`, and shows
 * the default of what is left out in a flow written by hand.
 */
export function opened<T>(node: EditorNode<T>): void {
  for (const [property, { value }] of Object.entries(RED.nodes.getType(node.type).defaults)) {
    const element = input(node, property);
    element.closest('form').data('editing', node.id);
    const isText = typeof value === 'number' || (typeof value === 'string' && value !== '');
    if (isText && node[property as keyof T] === undefined) element.val(value);
  }
}

/**
 * A property's value as a validator has to judge it: what the form says while it is this node's
 * form that is open, else what is saved. Node-RED validates other nodes too while a form is open.
 */
export function current<T>(node: EditorNode<T>, property: keyof T & string): string {
  const element = input(node, property);
  if (element.length > 0 && element.closest('form').data('editing') === node.id) {
    return fieldValue(element);
  }
  const saved: unknown = node[property];
  return typeof saved === 'string' || typeof saved === 'number' ? String(saved) : '';
}

/** The same of a property that is a tick box. */
export function ticked<T>(node: EditorNode<T>, property: keyof T & string): boolean {
  const element = input(node, property);
  const isOpen = element.length > 0 && element.closest('form').data('editing') === node.id;
  return isOpen ? element.is(':checked') : node[property] === true;
}

/** Calls `adapt` now and whenever one of the fields changes. */
export function onChange(properties: string[], adapt: () => void): void {
  for (const property of properties) field(property).on('change', adapt);
  adapt();
}

/** Whether a node's application shares its devices in a cluster: the application of the open form, else the saved one. */
export function isClustered(node: EditorNode<{ app: string }>): boolean {
  const app = RED.nodes.node(current(node, 'app')) as EditorNode<{ cluster: string }> | null;
  return Boolean(app?.cluster);
}
