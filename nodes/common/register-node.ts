import type { Node, NodeAPI, NodeDef } from 'node-red';

/**
 * What is behind the nodes of a type, once for each Node-RED.
 * @returns what is called with each new node, after Node-RED has created it
 */
export type Runtime<C extends object, N extends Node = Node> = (
  RED: NodeAPI,
) => (node: N, def: NodeDef & C) => void;

type Options = NonNullable<Parameters<NodeAPI['nodes']['registerType']>[2]>;

/**
 * Registers a node type. What its nodes do is loaded with the first of them: it would slow down the start of every
 * Node-RED that has the package installed.
 * @param load requires it: a plain `require` of the node's `.runtime`
 */
export function registerNode<C extends object, N extends Node = Node>(
  RED: NodeAPI,
  type: string,
  load: () => { runtime: Runtime<C, N> },
  options?: Options,
): void {
  let setUp: ReturnType<Runtime<C, N>> | undefined;
  RED.nodes.registerType<N, NodeDef & C, object, object>(
    type,
    function (this: N, def: NodeDef & C) {
      RED.nodes.createNode(this, def);
      setUp ??= load().runtime(RED);
      setUp(this, def);
    },
    options,
  );
}
