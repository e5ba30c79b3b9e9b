import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FlowNode } from '../../../tooling/node-red/nodes';
import { repository } from '../../../tooling/repository';

const folder = join(repository, 'examples');

/** An example as the import menu shows it. */
export interface Example {
  /** The file's name, without `.json`. */
  name: string;
  nodes: FlowNode[];
}

export const examples: Example[] = readdirSync(folder)
  .sort()
  .map((file) => ({
    name: file.replace(/\.json$/, ''),
    nodes: JSON.parse(readFileSync(join(folder, file), 'utf8')) as FlowNode[],
  }));

export const example = (name: string): Example => {
  const found = examples.find((each) => each.name === name);
  if (!found) throw new Error(`There is no example ${name}.`);
  return found;
};

export const ofType = (nodes: FlowNode[], type: string): FlowNode[] =>
  nodes.filter((node) => node.type === type);

/** The one node of that name. */
export function named(nodes: FlowNode[], name: string): FlowNode {
  const found = nodes.filter((node) => node['name'] === name);
  if (found.length !== 1) throw new Error(`${found.length} nodes are called "${name}".`);
  return found[0]!;
}

export const change = (nodes: FlowNode[], name: string, properties: object): FlowNode[] => {
  const { id } = named(nodes, name);
  return nodes.map((node) => (node.id === id ? { ...node, ...properties } : node));
};

export const EACH_MINUTE = 'Every minute';

/** Polls once and then at each press of the button, so that a test knows how many polls there were. */
export function once(nodes: FlowNode[]): FlowNode[] {
  const { repeat, once: atStart } = named(nodes, EACH_MINUTE);
  assert.deepEqual([repeat, atStart], ['60', true]);
  return change(nodes, EACH_MINUTE, { repeat: '' });
}
