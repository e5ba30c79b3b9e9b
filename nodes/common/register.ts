import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { Action, Runtime } from './action';

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

/**
 * The module of a node of the palette, which Node-RED calls once. The build writes it: `push.js` of `push.runtime.ts`.
 * @param load requires the node's `.runtime`, which has an action or, if that is not enough, a run time of its own
 */
export const actionNode =
  <C extends object, K extends string>(
    type: string,
    load: () => { action: Action<C, K> } | { runtime: Runtime<C> },
  ): ((RED: NodeAPI) => void) =>
  (RED) =>
    registerNode(RED, type, () => {
      const loaded = load();
      if ('runtime' in loaded) return loaded;
      const { actionRuntime } = require('./action.runtime') as typeof import('./action.runtime');
      return { runtime: actionRuntime(loaded.action) };
    });

type Middleware = ReturnType<NodeAPI['auth']['needsPermission']>;

/** Answers a request of the editor. An interface, so that declarations need not name the types of Express. */
export interface Handler {
  (...call: Parameters<Middleware>): unknown;
}

/** What answers routes, by the names that they have here. */
export type Handlers<Name extends string> = Readonly<Record<Name, Handler>>;

/** A route of the editor, and the permission that it needs. */
type Route = [
  'get' | 'post' | 'put',
  path: string,
  permission: 'device-cloud.read' | 'device-cloud.write',
];

/**
 * Adds routes for the editor. What answers them is loaded with the first request to one of them: most starts of Node-RED
 * never see one. Called once per module.
 * @param load requires it: a plain `require`
 */
export function addRoutes<Name extends string>(
  RED: NodeAPI,
  routes: Readonly<Record<Name, Route>>,
  load: () => { handlers: (RED: NodeAPI) => Handlers<Name> },
): void {
  let handlers: Handlers<Name> | undefined;
  for (const name of Object.keys(routes) as Name[]) {
    const [method, path, permission] = routes[name];
    RED.httpAdmin[method](path, RED.auth.needsPermission(permission), (...call) => {
      handlers ??= load().handlers(RED);
      handlers[name](...call);
    });
  }
}
