import type { NodeAPI } from 'node-red';

/** Answers a request of the editor. */
export type Handler = ReturnType<NodeAPI['auth']['needsPermission']>;

/** What answers routes, by the names that they have here. */
export type Handlers<Name extends string> = Readonly<Record<Name, Handler>>;

/** A route of the editor, and the permission that it needs. */
type Route = ['get' | 'post', path: string, permission: 'device-cloud.read' | 'device-cloud.write'];

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
