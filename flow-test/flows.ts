import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { dropLeadingZeros } from '../src/input';
import type { Allowed } from './allowed';
import { BLIND } from './protocol';

/** A node as a flow file has it. */
export interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly name?: string;
  readonly [property: string]: unknown;
}

/** Flows that cannot be tested, and why. */
export class FlowError extends Error {}

const MAX_FLOWS = 64 * 1024 * 1024;
const APP = 'device-cloud-app';

/** Flows as read, and the folder that paths in them are relative to. */
export interface Flows {
  readonly nodes: readonly FlowNode[];
  readonly file: string;
  readonly folder: string;
}

/** The file of flows in a user directory: what it is called without a setting, or the only one that looks like it. */
function flowFileIn(folder: string): string {
  const plain = join(folder, 'flows.json');
  if (existsSync(plain)) return plain;
  const [only, ...more] = readdirSync(folder).filter((name) =>
    /^flows_.*(?<!_cred)\.json$/.test(name),
  );
  if (only !== undefined && more.length === 0) return join(folder, only);
  throw new FlowError(`${folder} has no flows.json. Name the file of the flows.`);
}

/** The file of flows that a path names: itself, or the file in a user directory. @throws FlowError */
export function fileOfFlows(path: string): string {
  if (!existsSync(path)) throw new FlowError(`${path}: there is no such file or folder.`);
  return statSync(path).isDirectory() ? flowFileIn(path) : path;
}

/**
 * Reads a file of flows, or the file in a user directory. Nothing else of the directory is read: neither its settings nor its
 * credentials.
 * @throws FlowError
 */
export function readFlows(path: string): Flows {
  const file = fileOfFlows(path);
  if (statSync(file).size > MAX_FLOWS) throw new FlowError(`${file} is larger than 64 MiB.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new FlowError(`${file} is not JSON: ${(error as Error).message}.`);
  }
  return { nodes: checkFlows(parsed, file), file, folder: dirname(file) };
}

function checkFlows(parsed: unknown, file: string): FlowNode[] {
  const isNode = (node: unknown): node is FlowNode =>
    typeof node === 'object' &&
    node !== null &&
    typeof (node as FlowNode).id === 'string' &&
    typeof (node as FlowNode).type === 'string';
  if (Array.isArray(parsed) && parsed.every(isNode)) return parsed;
  throw new FlowError(
    `${basename(file)} is not a list of nodes, as Node-RED exports and saves it.`,
  );
}

/** The address and the keys of the simulator of a test. */
export interface Service {
  readonly baseUrl: string;
  readonly appid: string;
  readonly appkey: string;
  readonly serverKey: string;
  readonly serverPassword: string;
}

/** The application id of the flows, if it is one. The simulator takes it over. */
export function appidOf(nodes: readonly FlowNode[]): string | undefined {
  const ids = nodes.filter(({ type }) => type === APP).map(({ appid }) => appid);
  return ids.find((id): id is string => typeof id === 'string' && /^[1-9][0-9]{0,19}$/.test(id));
}

/** Whether a node of the flows would run, were it not for its type. */
const isEnabled = ({ d }: FlowNode): boolean => d !== true;

/** The nodes that do nothing in a test. */
export const disabledNodes = (nodes: readonly FlowNode[], allowed: Allowed): FlowNode[] =>
  nodes.filter((node) => isEnabled(node) && !allowed.runs(node.type));

/** Chip numbers that the nodes name. */
export function chipidsIn(nodes: readonly FlowNode[]): string[] {
  const own = nodes.filter(({ type }) => type.startsWith('device-cloud-'));
  const named = own.flatMap(({ chipid, chipidType, chipids, devices }) => [
    ...(chipidType === 'str' ? [chipid] : []),
    ...(devices === 'list' && Array.isArray(chipids) ? (chipids as unknown[]) : []),
  ]);
  const digits = named.filter((text): text is string => /^[0-9]{1,20}$/.test(String(text)));
  return [...new Set(digits.map((text) => dropLeadingZeros(String(text))))];
}

const TYPES_THAT_LISTEN = ['listen', 'events', 'latest', 'request'].map(
  (type) => `device-cloud-${type}`,
);

/** Whether some node keeps channels open, so that an upload reaches it only then. */
export const listens = (nodes: readonly FlowNode[]): boolean =>
  nodes.some(
    (node) =>
      isEnabled(node) &&
      (TYPES_THAT_LISTEN.includes(node.type) ||
        node['when'] === 'upload' ||
        node['when'] === 'online'),
  );

/** What a test changes, see {@link setProperty}. */
export interface Change {
  readonly node: string;
  readonly property: string;
  readonly value: unknown;
}

/** They may be called as the nodes in them. */
const FRAMES = ['tab', 'group', 'subflow', 'comment'];

/** The nodes of a name or an id. Configuration nodes come last: they may be called as a node that uses them. */
export const nodesNamed = (nodes: readonly FlowNode[], at: string): FlowNode[] => {
  const byId = nodes.filter(({ id }) => id === at);
  if (byId.length > 0) return byId;
  const named = nodes.filter(({ name, type }) => name === at && !FRAMES.includes(type));
  const wired = named.filter(({ wires }) => Array.isArray(wires));
  return wired.length > 0 ? wired : named;
};

/** Sets a property of a node, such as `timeout` or `rules.0.v`. @throws FlowError if there is none */
function setProperty(nodes: FlowNode[], { node: at, property, value }: Change): void {
  const [node, ...more] = nodesNamed(nodes, at);
  if (!node) throw new FlowError(`"set": the flows have no node "${at}".`);
  if (more.length > 0) throw new FlowError(`"set": several nodes are called "${at}". Use an id.`);
  const path = property.split('.');
  const last = path.pop() ?? '';
  let owner: unknown = node;
  for (const key of path)
    owner = Object.hasOwn(Object(owner), key) ? (owner as FlowNode)[key] : undefined;
  if (!Object.hasOwn(Object(owner), last))
    throw new FlowError(`"set": the node "${at}" has no property "${property}".`);
  (owner as Record<string, unknown>)[last] = value;
}

/**
 * The copy of the flows that runs in a test: each application on the simulator, and nodes that are not allowed replaced by
 * a node that only takes messages.
 * @param copyIn copies a file to where nodes may read it
 * @throws FlowError if a change cannot be made, or a file is missing
 */
export function prepareFlows(
  flows: Flows,
  allowed: Allowed,
  service: Service,
  changes: readonly Change[],
  copyIn: (file: string, name: string) => string,
): FlowNode[] {
  const copy = structuredClone(flows.nodes) as FlowNode[];
  for (const change of changes) setProperty(copy, change);
  return copy.map((node, index) => {
    // Keys of the real service have no business here.
    const { credentials: _, ...kept } = node;
    if (node.type === APP)
      return {
        ...toSimulator(kept as FlowNode, service),
        ...bookOf(kept as FlowNode, flows, index, (file) => copyIn(file, `book-${index}.csv`)),
      };
    if (allowed.runs(node.type)) return kept as FlowNode;
    const { id, name = '', z, g, x, y, d, wires } = kept;
    const place = { z, g, x, y, d, wires };
    const known = Object.entries(place).filter(([, value]) => value !== undefined);
    return { id, type: BLIND, name, ...Object.fromEntries(known) };
  });
}

/**
 * The device book of an application, which nodes may change: a copy. Flows may be somebody else's: they name no file outside
 * their folder, but a test may.
 */
function bookOf(
  { id, name = '', book, d }: FlowNode,
  { folder, nodes }: Flows,
  index: number,
  copy: (file: string) => string,
): { book?: string } {
  if (typeof book !== 'string' || book === '' || d === true) return {};
  const file = resolve(folder, book);
  const isMissing = !existsSync(file) || !statSync(file).isFile();
  const isOfFlows = nodes[index]?.['book'] === book;
  if (isMissing || (isOfFlows && !realpathSync(file).startsWith(realpathSync(folder) + sep)))
    throw new FlowError(
      `The device book of "${name || id}", ${file}, is ${isMissing ? 'missing' : 'outside the folder of the flows'}. ` +
        `Put it there, or give the test "set: { node: ${name || id}, property: book, value: FILE }", with '' for none.`,
    );
  return { book: copy(file) };
}

function toSimulator(app: FlowNode, service: Service): FlowNode {
  const { baseUrl, appid, appkey, serverKey, serverPassword } = service;
  return {
    ...app,
    ...{ service: 'cloud', baseUrl, appid, state: 'file', tls: '', proxy: '', cluster: '' },
    credentials: { appkey, serverKey, serverPassword },
  };
}
