import type { Runtime } from '../common/action';
import type { AppConfig } from './app.config';
import { Application } from './application';
import { addRunning, type AppNode } from './deployed';
import type { SharedSimulator } from './simulator';

export { tidy } from './waiting';

/** The config node: one application of the service, shared by the nodes that use it. */
export const appRuntime =
  (simulator: SharedSimulator): Runtime<AppConfig, AppNode> =>
  (RED) =>
  (node, def) => {
    node.users = {};
    node.app = new Application(RED, node, def, simulator);
    addRunning(node);
    node.on('close', (_removed: boolean, done: () => void) => {
      void node.app.close().then(done);
    });
  };
