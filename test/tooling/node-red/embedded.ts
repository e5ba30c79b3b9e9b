import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { Node, NodeAPI, NodeMessage, NodeRedApp } from 'node-red';
import type { FlowNode } from './nodes';
import { SETTINGS } from './process';
import { makeUserDir } from './user-dir';
import { temporaryFolder } from '../temporary-folder';

/** A Node-RED inside this process: there can be one in a process, and it keeps the process alive. */
export interface EmbeddedNodeRed {
  app: NodeRedApp;
  /**
   * Replaces the flows as the editor does, and waits until the new ones run.
   * @throws if there is no such node, for which Node-RED would wait
   */
  deploy(flows: readonly FlowNode[], type?: 'full' | 'flows' | 'nodes'): Promise<void>;
  /** Hands a message to a node. */
  receive(id: string, msg: NodeMessage): void;
}

interface EmbedOptions {
  /** Registers node types, before the first flows start. */
  prepare?: (app: NodeRedApp) => void;
  /** The built package to install; default: this repository; null for none. */
  packageFolder?: string | null;
  settings?: object;
}

const QUIET = {
  httpAdminRoot: false,
  functionExternalModules: true,
  logging: { console: { level: 'warn', metrics: false, audit: false } },
} as const;

/** A user folder that goes with this process. */
function temporaryUserDir(packageFolder?: string | null): string {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  return makeUserDir(temporaryFolder('embedded'), packageFolder);
}

/** Starts Node-RED with no flows. */
export async function embedNodeRed(options: EmbedOptions = {}): Promise<EmbeddedNodeRed> {
  const { prepare, packageFolder, settings = {} } = options;
  const app = createRequire(__filename)('node-red') as NodeRedApp;
  const userDir = temporaryUserDir(packageFolder);
  const started = (): Promise<void> =>
    new Promise((resolve) => app.events.once('flows:started', () => resolve()));
  app.init(createServer(), { ...SETTINGS, ...QUIET, ...settings, uiPort: 0, userDir } as never);
  prepare?.(app);
  const running = started();
  await app.start();
  await running;
  return {
    app,
    async deploy(flows, deploymentType = 'full') {
      const nodes = app.nodes as unknown as { getType(type: string): unknown };
      const unknown = flows.find(({ type }) => type !== 'tab' && !nodes.getType(type));
      if (unknown) throw new Error(`There is no node ${unknown.type}.`);
      const redeployed = started();
      // Without credentials of their own, those in the nodes are taken, which the types do not know.
      const deployed = { flows } as unknown as { flows: object[]; credentials: object };
      await app.runtime.flows.setFlows({ flows: deployed, deploymentType } as never);
      await redeployed;
    },
    receive(id, msg) {
      // The types of an embedded Node-RED leave this part out.
      const nodes = app.nodes as unknown as Pick<NodeAPI['nodes'], 'getNode'>;
      const node = nodes.getNode(id) as Node | null;
      if (!node) throw new Error(`There is no node ${id}.`);
      node.receive(msg);
    },
  };
}
