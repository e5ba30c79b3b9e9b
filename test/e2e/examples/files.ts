import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { repository } from '../../tooling/repository';

const folder = join(repository, 'examples');

/** An example as the import menu shows it. */
export interface Example {
  /** The folder, with the number that puts it in its place in the menu. */
  folder: string;
  /** The file's name, without `.json`. */
  name: string;
  nodes: FlowNode[];
}

/** In the order of the import menu. */
export const examples: Example[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.json'))
  .map((path) => ({
    folder: dirname(path),
    name: basename(path, '.json'),
    nodes: JSON.parse(readFileSync(join(folder, path), 'utf8')) as FlowNode[],
  }))
  .sort((a, b) => a.folder.localeCompare(b.folder) || a.name.localeCompare(b.name));

/** The flows of `npm start`. */
export const demoFlows = JSON.parse(
  readFileSync(join(repository, 'demo', 'flows.json'), 'utf8'),
) as FlowNode[];

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

/** What a log has of errors and warnings. That the public server's history alters uploads is said once, and is no fault. */
export const troubles = (log: string): string[] =>
  log
    .split('\n')
    .filter(
      (line) => /\[(error|warn)\]/.test(line) && !line.includes('the history alters uploads'),
    );
