import { current } from './form';
import type { EditorNode } from './red';

/** Whether a node's application shares its devices in a cluster: the application of the open form, else the saved one. */
export function isClustered(node: EditorNode<{ app: string }>): boolean {
  const app = RED.nodes.node(current(node, 'app')) as EditorNode<{ cluster: string }> | null;
  return Boolean(app?.cluster);
}
