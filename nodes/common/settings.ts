// Reads what the properties of nodes refer to: variables, choices, devices, and core's config nodes.
import type { Node, NodeAPI, NodeDef } from 'node-red';
import {
  invalidInput,
  notConfigured,
  parseChipid,
  type ProxySettings,
  show,
  type TlsSettings,
} from '../../src/index';
import { asError } from './errors';
import {
  describedText,
  readFlag,
  readList,
  readText,
  typedText,
  VALUE_TYPES,
  variableName,
} from './shared.config';

/** The words of which a property must be one, by its name. The first is the default. */
export type Choices = Readonly<Record<string, readonly string[]>>;

/** Reads a property by the kind of its default. @returns undefined if it makes no sense */
function readProperty(name: string, saved: object, usual: unknown): unknown {
  const { [name]: value, [`${name}Type`]: type } = saved as Record<string, unknown>;
  if (value === undefined || value === null) return usual;
  if (Array.isArray(usual)) return readList(value);
  if (typeof usual === 'string') return readText(typedText(type, describedText(name, value)));
  if (typeof value === 'string' && value.trim() === '') return usual;
  // A text that is no number is refused where it counts: what a node does not use may be anything.
  return typeof usual === 'boolean' ? readFlag(value) : readText(value);
}

const KINDS: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  number: 'a number',
  string: 'text',
  object: 'an array',
};

/**
 * Reads the properties of a node, as a flow may have them that is of another version or was written by hand. What is missing,
 * null or an empty number has its default.
 * @returns the properties, and what is wrong with one that makes no sense: the node must do nothing then, since a misspelt
 * `read` must not set a pin
 */
export function readProperties<C extends object>(
  saved: Partial<C>,
  defaults: C,
  choices: Choices = {},
): { config: C; problem: string | undefined } {
  const config: Record<string, unknown> = { ...saved };
  let problem: string | undefined;
  for (const [name, usual] of Object.entries(defaults) as [string, unknown][]) {
    const isType = name.endsWith('Type') && name.slice(0, -'Type'.length) in defaults;
    const words: readonly unknown[] | undefined =
      choices[name] ?? (isType ? VALUE_TYPES : undefined);
    const read = readProperty(name, saved, usual);
    const value = words && read === '' ? usual : read;
    config[name] = value ?? usual;
    if (value !== undefined && words?.includes(value) !== false) continue;
    config[name] = usual;
    const must = words ? `one of ${words.join(', ')}` : KINDS[typeof usual];
    const given = show((saved as Record<string, unknown>)[name]);
    problem ??= `The property "${name}" must be ${must}, but is ${given}.`;
  }
  return { config: config as C, problem };
}

/** The properties of a node that are unlike their defaults: those that a later version adds change nothing. */
export const settingsOf = (config: object, defaults: object): object =>
  Object.fromEntries(
    Object.entries(defaults).flatMap(([name, usual]) => {
      const value = (config as Record<string, unknown>)[name];
      return String(value) === String(usual) ? [] : [[name, value]];
    }),
  );

/** What a number may be. */
export interface NumberLimits {
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
}

/** A property that is a number, as it was read. @throws DeviceCloudError `INVALID_INPUT` */
export function numberOf<K extends string>(
  config: Readonly<Record<K, number | string>>,
  name: K,
  { min, max, isWhole = false }: NumberLimits,
): number {
  const { [name]: value } = config;
  const number = Number(value);
  if (number >= min && number <= max && (!isWhole || Number.isInteger(number))) return number;
  const kind = isWhole ? 'whole number' : 'number';
  const must = `must be a ${kind} from ${min} to ${max}, but is ${show(value)}`;
  throw invalidInput(`The property "${name}" ${must}.`);
}

/**
 * Reads the list of devices. An entry may have been saved as `${NAME}`, which a subflow needs:
 * Node-RED replaces it inside arrays, too, and leaves it as it is if the variable is not set.
 * @param failed is called for each entry that is no device, with an error that names the variable if it is one
 */
export const readDevices = (list: readonly unknown[], failed: (error: Error) => void): string[] =>
  list.flatMap((entry) => {
    try {
      const name = variableName(entry);
      if (name === undefined) return [parseChipid(entry)];
      throw notConfigured(
        `The environment variable ${name} is not set, so the device that it stands for is left out.`,
      );
    } catch (error) {
      failed(asError(error));
      return [];
    }
  });

/** A node that knows the variables of all flows, which Node-RED's global configuration has; undefined without it. */
function knowingGlobals(RED: NodeAPI): Node | undefined {
  let id: string | undefined;
  RED.nodes.eachNode((node) => {
    if (node.type === 'global-config') id = node.id;
  });
  return findNode(RED, id, 'global-config');
}

/**
 * The value of a variable.
 * @param node the deployed node; undefined for settings that were only typed: then those of all flows and of the process are known
 * @throws DeviceCloudError `NOT_CONFIGURED` that names it if it is not set
 */
function valueOf(RED: NodeAPI, node: Node | undefined, name: string): string {
  const knowing = node ?? knowingGlobals(RED);
  // The types do not foresee that there is no node.
  const found = RED.util.evaluateNodeProperty(name, 'env', knowing as Node, {}) as unknown;
  if ((typeof found === 'string' && found !== '') || typeof found === 'number')
    return String(found);
  throw notConfigured(`The environment variable ${name} is not set.`);
}

/**
 * A setting as text. Node-RED replaces `${NAME}` in deployed nodes, unless the variable is not set; in
 * settings that were only typed it has not been replaced yet.
 * @param node see {@link valueOf}
 * @throws as {@link valueOf}
 */
export function textOf(RED: NodeAPI, node: Node | undefined, value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return '';
  const name = variableName(value);
  return name === undefined ? value : valueOf(RED, node, name);
}

/** Finds the running node of an id and a type. */
export function findNode(RED: NodeAPI, id: string | undefined, type: string): Node | undefined {
  // The types promise a node; Node-RED gives null for an unknown or disabled one.
  const node = id ? (RED.nodes.getNode(id) as Node | null) : null;
  return node?.type === type ? node : undefined;
}

/**
 * The settings of a node of the flows as they were saved, with each `${NAME}` in them, whether the node runs or not. Of one in a
 * subflow, those of the template.
 */
export function findInFlows<C extends object = Record<string, unknown>>(
  RED: NodeAPI,
  id: string,
): (NodeDef & Partial<C>) | undefined {
  const [last] = id.split('-').slice(-1);
  let found: NodeDef | undefined;
  RED.nodes.eachNode((each) => {
    if (each.id === id || (each.id === last && !found)) found = each;
  });
  return found as (NodeDef & Partial<C>) | undefined;
}

interface TlsNode extends Node {
  /** Whether its files could be read. */
  valid?: boolean;
  addTLSOptions(options: TlsSettings): TlsSettings;
}

/** A core `http proxy` node. */
export interface ProxyNode extends Node<{ username?: string; password?: string }> {
  url: string;
  noproxy?: string[];
}

export const PROXY_TYPE = 'http proxy';

/** @param what the node, as the error names it */
function nodeOf(
  RED: NodeAPI,
  id: string | undefined,
  type: string,
  what: string,
): Node | undefined {
  const node = findNode(RED, id, type);
  if (node || !id) return node;
  throw notConfigured(`The ${what} configuration is missing or disabled.`);
}

/** The TLS settings of a core `tls-config` node. @throws DeviceCloudError `NOT_CONFIGURED` */
export function tlsOf(RED: NodeAPI, id: string | undefined): TlsSettings | undefined {
  const node = nodeOf(RED, id, 'tls-config', 'TLS') as TlsNode | undefined;
  // It would go on without its certificates: any other authority would be trusted.
  if (node?.valid === false)
    throw notConfigured(
      'The certificates of the TLS configuration cannot be read: the log of Node-RED has its error.',
    );
  return node?.addTLSOptions({});
}

/** The proxy of a core `http proxy` node. @throws DeviceCloudError `NOT_CONFIGURED` */
export function proxyOf(RED: NodeAPI, id: string | undefined): ProxySettings | undefined {
  const node = nodeOf(RED, id, PROXY_TYPE, 'proxy') as ProxyNode | undefined;
  if (!node) return undefined;
  const { username, password } = (node.credentials as ProxyNode['credentials'] | undefined) ?? {};
  return {
    url: node.url,
    noProxy: node.noproxy ?? [],
    ...(username ? { username, password: password ?? '' } : {}),
  };
}
