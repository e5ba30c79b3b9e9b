/**
 * Node-RED's editor as far as these nodes use it. The editor's types in @types/node-red do not fit:
 * a validator has one parameter there and gives no text, a property has no label, and a typedInput
 * knows no asynchronous completion.
 */

/** True if valid, else the text that says why not. */
export type Validity = true | string;

export interface ValidatorOptions {
  label?: string;
}

export interface EditorNodeBase {
  id: string;
  type: string;
  name?: string;
  inputs?: number;
  /** The flow that the node is on; of a config node, the one it is kept to. */
  z?: string;
  /** Disabled. */
  d?: boolean;
  /** Edited since the last deploy. */
  changed?: boolean;
}

/** A node in the editor. A flow written by hand may lack any of the properties. */
export type EditorNode<T> = EditorNodeBase & Partial<T>;

export interface PropertyDefinition<T, V> {
  value: V | '';
  /** What a flow means that leaves it out, where a new node has another value. */
  missing?: V;
  label?: string;
  /** Whether the property counts as the form is filled in: its row is shown meanwhile. */
  applies?: (node: EditorNode<T>) => boolean;
  /** Makes its row work, when the form is opened. */
  prepare?: (node: EditorNode<T>) => void;
  /** The type of config node that the property names. */
  type?: string;
  required?: boolean;
  /** Node-RED looks at the number of parameters: with two, the text is shown. */
  validate?: (this: EditorNode<T>, value: unknown, options: ValidatorOptions) => Validity;
}

export interface NodeDefinition<T, C = object> {
  category: string;
  /** Key of the category's description, shown when the mouse rests on it. */
  categoryDescription?: string;
  color?: string;
  icon: string;
  inputs?: 0 | 1;
  outputs?: number;
  defaults: { [K in keyof T]-?: PropertyDefinition<T, T[K]> };
  credentials?: {
    [K in keyof C]-?: {
      type: 'text' | 'password';
      label?: string;
      validate?: PropertyDefinition<T, string>['validate'];
    };
  };
  paletteLabel?: string;
  label: (this: EditorNode<T>) => string;
  labelStyle?: (this: EditorNode<T>) => string;
  onadd?: (this: EditorNode<T>) => void;
  oneditprepare?: (this: EditorNode<T>) => void;
  oneditsave?: (this: EditorNode<T>) => void;
}

/** A type of a typedInput. */
export interface TypeDefinition {
  value: string;
  label?: string;
  icon?: string;
  hasValue?: boolean;
  options?: { value: string; label: string }[];
  validate?: (value: string) => Validity;
  autoComplete?: (value: string, done: (completions: Completion[]) => void) => void;
}

export interface Completion {
  value: string;
  label: JQuery;
  /** In place of taking the value. */
  onselect?: () => void;
}

export interface TypedInputOptions {
  types: (string | TypeDefinition)[];
  default?: string;
  typeField?: string;
}

export interface EditableListOptions<Item> {
  addButton?: string;
  addItem: (row: JQuery, index: number, item: Item) => void;
  removeItem?: (item: Item) => void;
  sortable?: boolean;
  removable?: boolean;
  height?: number | 'auto';
}

export interface SidebarTab {
  id: string;
  /** Short, on the tab. */
  label: string;
  /** In the menu and as the tooltip. */
  name: string;
  iconClass: string;
  content: JQuery;
  toolbar: JQuery;
}

export interface NotificationOptions {
  type?: 'success' | 'warning' | 'error';
  modal?: boolean;
  fixed?: boolean;
  timeout?: number;
  buttons?: { text: string; class?: string; click: () => void }[];
}

/** A flow, or the template of a subflow. */
interface Flow {
  label?: string;
  name?: string;
  /** Its properties, with their defaults. */
  env?: { name: string; value: unknown }[];
}

interface EditorRed {
  editor: {
    /** Opens the dialog of a config node. */
    editConfig(name: string, type: string, id: string): void;
  };
  plugins: { registerPlugin(id: string, definition: { onadd: () => void }): void };
  sidebar: { addTab(tab: SidebarTab): void };
  comms: {
    subscribe(topic: string, listener: (topic: string, data: unknown) => void): void;
    /** `connect`: also after the connection was lost, or a user has logged in again. */
    on(event: 'connect', listener: () => void): void;
  };
  events: { on(event: string, listener: () => void): void };
  i18n: { lang(): string };
  user: { hasPermission(permission: string): boolean };
  workspaces: {
    isLocked(): boolean;
    /** The id of the flow or the subflow that is shown. */
    active(): string;
  };
  view: {
    importNodes(nodes: object[], options: { generateIds: boolean }): void;
    /** Shows a node, wherever it is. */
    reveal(id: string): void;
    redraw(): void;
  };
  /** A text would be taken as HTML. */
  notify(content: JQuery, options: NotificationOptions): { close(): void };
  _(key: string, values?: Record<string, unknown>): string;
  nodes: {
    registerType<T, C = object>(type: string, definition: NodeDefinition<T, C>): void;
    getType(type: string): {
      category: string;
      defaults: Record<string, PropertyDefinition<object, unknown>>;
    };
    node(id: string): EditorNodeBase | null | undefined;
    eachConfig(visit: (node: EditorNodeBase) => void): void;
    eachNode(visit: (node: EditorNodeBase) => void): void;
    workspace(id: string): Flow | null | undefined;
    subflow(id: string): Flow | null | undefined;
  };
  clipboard: {
    /** @param message key of the editor's text that is shown beside the element */
    copyText(value: string, element: JQuery, message: string): boolean;
  };
  utils: {
    getNodeLabel(node: EditorNodeBase, usual: string): string;
    validateTypedProperty(value: string, type: string, options: ValidatorOptions): Validity | false;
  };
}

declare global {
  const RED: EditorRed;
  /** Namespace of this node's message catalogue, written in by the build. */
  const CATALOGUE: string;

  interface JQuery<TElement = HTMLElement> {
    typedInput(options: TypedInputOptions): JQuery<TElement>;
    typedInput(property: 'value' | 'type'): string;
    typedInput(property: 'value' | 'type', value: string): JQuery<TElement>;
    typedInput(method: 'validate'): boolean;
    autoComplete(options: {
      search: NonNullable<TypeDefinition['autoComplete']>;
      minLength: number;
    }): JQuery<TElement>;
    editableList<Item>(options: EditableListOptions<Item>): JQuery<TElement>;
    editableList(method: 'addItem', item: unknown): JQuery<TElement>;
  }
}
