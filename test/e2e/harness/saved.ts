import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { around, foundation } from './flows';
import type { FlowNode } from '../../../tooling/node-red/nodes';
import { repository } from '../../../tooling/repository';

/** What one message to one node of the saved flows comes to. `$any` is what differs each time. */
export interface Case {
  node: string;
  send: Record<string, unknown>;
  gives: Record<string, unknown>[];
  /** Method and beginning of the path of the request that the service gets. */
  request?: string;
  body?: string;
}

const folder = join(repository, 'test', 'fixtures', 'flows-1.0');
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));

/** Flows as version 1.0 has saved them, and what they did. None of it may ever be changed. */
export const saved = {
  /** As exported from the editor, config nodes that are in several files once. */
  nodes: [
    ...new Map(
      readdirSync(join(folder, 'flows'))
        .flatMap((file) => read(join('flows', file)) as FlowNode[])
        .map((node) => [node.id, node]),
    ).values(),
  ],
  /** What a node that was new in the editor had, by type. */
  newNodes: read('new-nodes.json') as Record<string, { defaults: object }>,
  /** The credentials of each application that has some. */
  credentials: read('credentials.json') as object,
  /** What its nodes had written into their context, by flow and node. */
  context: read('context.json') as Record<string, object>,
  /** Messages in, messages out, in four goes. */
  behaviour: read('behaviour.json') as Record<'reads' | 'commands' | 'levels' | 'reboots', Case[]>,
  /** What each listener gives, by node. */
  uploads: read('uploads.json') as Record<string, Record<string, unknown>[]>,
};

export const isOurs = ({ type }: FlowNode): boolean => type.startsWith('device-cloud-');

/** Sets what the saved nodes read from the context. */
const presets = (tab: string): FlowNode => ({
  ...{ id: `${tab}-presets`, type: 'function', z: tab, name: '', func: '', outputs: 0, libs: [] },
  initialize: `flow.set(['device', 'text'], ['10000001', 'from flow']);
    global.set(['device', 'text'], ['10000001', 'from global']);`,
  ...{ finalize: '', noerr: 0, timeout: 0, x: 100, y: 100, wires: [] },
});

/** A node as it was saved, with what feeds and watches it around it. */
function watched(node: FlowNode): FlowNode[] {
  const text = JSON.stringify(around(node.id, node))
    .replaceAll(`"node-${node.id}"`, `"${node.id}"`)
    .replaceAll('"z":"tab"', `"z":"${String(node.z)}"`);
  const nodes = JSON.parse(text) as FlowNode[];
  return nodes.map((each) => (each.id === node.id ? { ...node, wires: each.wires } : each));
}

/** The files of a user folder that Node-RED with version 1.0 of the package has left behind. */
export function userFiles(): Record<string, string> {
  const isAction = (node: FlowNode): boolean => isOurs(node) && node.z !== undefined;
  const flows = saved.nodes.flatMap((node) => {
    if (isAction(node)) return watched(node);
    // Contexts of that version count only where the application still keeps its state there.
    if (node.type === 'device-cloud-app') return [{ ...node, state: 'context' }];
    return node.type === 'tab' ? [node, presets(node.id)] : [node];
  });
  const apps = saved.nodes.filter((node) => isOurs(node) && node['service'] === 'cloud');
  const credentials = Object.fromEntries(apps.map(({ id }) => [id, saved.credentials]));
  const contexts = Object.entries(saved.context).map(([place, value]) => [
    join('context', `${place}.json`),
    JSON.stringify(value),
  ]);
  return {
    'flows.json': JSON.stringify([...foundation, ...flows]),
    'flows_cred.json': JSON.stringify(credentials),
    ...(Object.fromEntries(contexts) as Record<string, string>),
  };
}

/** What is due, with the actual value in each place that `$any` holds. */
export function due(expected: unknown, actual: unknown): unknown {
  if (expected === '$any') return actual;
  if (typeof expected !== 'object' || expected === null) return expected;
  const found = (typeof actual === 'object' && actual !== null ? actual : {}) as Record<
    string,
    unknown
  >;
  const entries = Object.entries(expected).map(([key, value]) => [key, due(value, found[key])]);
  return Array.isArray(expected)
    ? entries.map(([, value]) => value)
    : (Object.fromEntries(entries) as object);
}
