import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { dropLeadingZeros } from '../src/index';
import type { Simulator } from '../src/simulator/index';
import { DISABLED, Problem, type FlowNode } from './protocol';
import type { Given } from './tests';

const APP = 'device-cloud-app';

/** Core nodes that reach neither a network nor a file nor a process. */
const CORE: readonly string[] = [
  ...['tab', 'subflow', 'group', 'comment', 'junction', 'global-config'],
  ...['inject', 'debug', 'complete', 'catch', 'status', 'link in', 'link out', 'link call'],
  ...['function', 'switch', 'change', 'range', 'template', 'delay', 'trigger', 'rbe'],
  ...['split', 'join', 'sort', 'batch'],
  ...['csv', 'html', 'json', 'xml', 'yaml'],
];

/** Nodes of this package, which reach a simulator, and instances of subflows. */
const OWN = /^(device-cloud-|subflow:)/;

/** Whether a node of a type runs in a test. @param allowed types that run although they reach outside */
const runs = (type: string, allowed: readonly string[]): boolean =>
  CORE.includes(type) || OWN.test(type) || allowed.includes(type);

/** Flows as read, and the folder that paths in them are relative to. */
export interface Flows {
  readonly nodes: readonly FlowNode[];
  readonly folder: string;
}

/**
 * The file of flows that a path names: itself, or the one in a user directory, which is called flows.json without a setting,
 * or is the only one that looks like it.
 * @throws Problem
 */
export function fileOfFlows(path: string): string {
  if (!existsSync(path)) throw new Problem(`${path}: there is no such file or folder.`);
  if (!statSync(path).isDirectory()) return path;
  if (existsSync(join(path, 'flows.json'))) return join(path, 'flows.json');
  const found = readdirSync(path).filter((name) => /^flows_.*(?<!_cred)\.json$/.test(name));
  if (found.length === 1) return join(path, ...found);
  throw new Problem(`${path} has no flows.json. Name the file of the flows.`);
}

const isNode = (node: unknown): node is FlowNode =>
  typeof Object(node).id === 'string' && typeof Object(node).type === 'string';

/**
 * Reads a file of flows, or the file in a user directory. Nothing else of the directory is read: neither its settings nor its
 * credentials.
 * @throws Problem
 */
export function readFlows(path: string): Flows {
  const file = fileOfFlows(path);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Problem(`${file} is not JSON: ${(error as Error).message}.`);
  }
  if (Array.isArray(parsed) && parsed.every(isNode))
    return { nodes: parsed, folder: dirname(file) };
  throw new Problem(`${file} is not a list of nodes, as Node-RED exports and saves it.`);
}

/** The application id of the flows, if it is one. The simulator takes it over. */
export function appidOf(nodes: readonly FlowNode[]): string | undefined {
  const ids = nodes.filter(({ type }) => type === APP).map(({ appid }) => appid);
  return ids.find((id): id is string => typeof id === 'string' && /^[1-9][0-9]{0,19}$/.test(id));
}

/** Whether a node of the flows would run, were it not for its type. */
const isEnabled = ({ d }: FlowNode): boolean => d !== true;

/** The nodes that do nothing in a test. */
export const disabledNodes = (nodes: readonly FlowNode[], allowed: readonly string[]): FlowNode[] =>
  nodes.filter((node) => isEnabled(node) && !runs(node.type, allowed));

/** The entries of a list, which may be written as a text, as the nodes read it. */
const listOf = (list: unknown): unknown[] =>
  Array.isArray(list) ? (list as unknown[]) : String(list).split(/[\s,;]+/);

/** Chip numbers that the nodes name. */
export function chipidsIn(nodes: readonly FlowNode[]): string[] {
  const own = nodes.filter(({ type }) => type.startsWith('device-cloud-'));
  const named = own.flatMap(({ chipid, chipidType, chipids, devices }) => [
    ...(chipidType === 'str' ? [chipid] : []),
    ...(devices === 'list' ? listOf(chipids) : []),
  ]);
  const digits = named.filter((text): text is string => /^[0-9]{1,20}$/.test(String(text)));
  return digits.map((text) => dropLeadingZeros(String(text)));
}

const LISTENS = /^device-cloud-(listen|events|latest|request)$/;

/** Whether some node keeps channels open, so that an upload reaches it only then. */
export const listens = (nodes: readonly FlowNode[]): boolean =>
  nodes.some(
    (node) =>
      isEnabled(node) &&
      (LISTENS.test(node.type) || node['when'] === 'upload' || node['when'] === 'online'),
  );

/** The listeners that run, and that know by themselves which devices they listen to. */
export function listenersIn(nodes: readonly FlowNode[]): FlowNode[] {
  const tabs = nodes.filter(({ type, disabled }) => type === 'tab' && disabled !== true);
  const places = new Set<unknown>(tabs.map(({ id }) => id));
  return nodes.filter(
    (node) =>
      node.type === 'device-cloud-listen' &&
      isEnabled(node) &&
      node['devices'] !== 'dynamic' &&
      places.has(node['z']),
  );
}

/** They may be called as the nodes in them. */
const FRAMES = ['tab', 'group', 'subflow', 'comment'];

/** The nodes of a name or an id. Configuration nodes come last: they may be called as a node that uses them. */
export function nodesNamed(nodes: readonly FlowNode[], at: string): FlowNode[] {
  const byId = nodes.filter(({ id }) => id === at);
  if (byId.length > 0) return byId;
  const named = nodes.filter(({ name, type }) => name === at && !FRAMES.includes(type));
  const wired = named.filter(({ wires }) => Array.isArray(wires));
  return wired.length > 0 ? wired : named;
}

/** What a node is called where there is no room for its id and type. */
export function nameOf(nodes: readonly FlowNode[], id: string): string {
  const node = nodes.find((each) => each.id === id);
  return node?.name || node?.type || id;
}

/** A property that a test sets. */
type Change = Given & { kind: 'set' };

/** Sets a property of a node, such as `timeout` or `rules.0.v`. @throws Problem if it does not exist */
function setProperty(nodes: FlowNode[], { node: at, property, value }: Change): void {
  const path = property.split('.');
  const last = path.pop() ?? '';
  let owner: unknown = nodesNamed(nodes, at)[0];
  for (const key of path)
    owner = Object.hasOwn(Object(owner), key) ? (owner as FlowNode)[key] : undefined;
  if (!Object.hasOwn(Object(owner), last))
    throw new Problem(`"set": the node "${at}" has no property "${property}".`);
  (owner as Record<string, unknown>)[last] = value;
}

/** The address and the keys of the simulator of a test. */
type Service = Pick<Simulator, 'baseUrl' | 'appid' | 'appkey' | 'serverKey' | 'serverPassword'>;

/**
 * The copy of the flows that runs in a test: each application on the simulator, and nodes that are not allowed replaced by
 * a node that only takes messages.
 * @param copyIn copies a file to where nodes may change it
 * @throws Problem if a change cannot be made, or a file is missing
 */
export function prepareFlows(
  flows: Flows,
  allowed: readonly string[],
  service: Service,
  changes: readonly Change[],
  copyIn: (file: string, name: string) => string,
): FlowNode[] {
  const copy = structuredClone(flows.nodes) as FlowNode[];
  for (const change of changes) setProperty(copy, change);
  return copy.map((node, index) => {
    // Keys of the real service have no business here.
    const { credentials: _, ...kept } = node;
    if (node.type === APP) {
      // Nodes may change it.
      const book = bookOf(node, flows.folder);
      const own = book && copyIn(book, `book-${index}.csv`);
      return { ...(kept as FlowNode), ...onSimulator(service), book: own };
    }
    if (runs(node.type, allowed)) return kept as FlowNode;
    const { id, name = '', z, g, x, y, d, wires } = kept;
    return { id, type: DISABLED, name, z, g, x, y, d, wires };
  });
}

/** The properties by which an application is on the simulator. */
const onSimulator = ({ baseUrl, appid, appkey, serverKey, serverPassword }: Service): object => ({
  service: 'cloud',
  baseUrl,
  appid,
  tls: '',
  proxy: '',
  cluster: '',
  credentials: { appkey, serverKey, serverPassword },
});

/** The file of the device book of an application; empty if it has none. @throws Problem if it is missing */
function bookOf({ id, name = '', book, d }: FlowNode, folder: string): string {
  if (typeof book !== 'string' || book === '' || d === true) return '';
  const file = resolve(folder, book);
  if (existsSync(file) && statSync(file).isFile()) return file;
  throw new Problem(
    `The device book of "${name || id}", ${file}, is missing. ` +
      `Put it there, or give the test "set: { node: ${name || id}, property: book, value: FILE }", with '' for none.`,
  );
}
