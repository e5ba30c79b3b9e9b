import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { NodeRedApp } from 'node-red';

/** A node as it stands in a flow file. */
export interface FlowNode {
  id: string;
  type: string;
  [property: string]: unknown;
}

/** A Node-RED inside this process. */
export interface NodeRed {
  app: NodeRedApp;
  /** Replaces the flows, and waits until the new ones run. */
  deploy(flows: FlowNode[]): Promise<void>;
}

/** Ends this process: an error that is thrown, Node-RED would catch. */
export function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

/** An error of a node is logged, as no Catch node takes it: it ends the run. */
const handler = () => (entry: { msg: unknown }) => fail(`Node-RED: ${String(entry.msg)}`);
// The types of the settings know of no logger but the console.
const LOGGING: object = { bench: { level: 'error', metrics: false, audit: false, handler } };

const SETTINGS = {
  uiPort: 0,
  uiHost: '127.0.0.1',
  httpAdminRoot: false,
  flowFile: 'flows.json',
  credentialSecret: false,
  functionExternalModules: true,
  telemetry: { enabled: false },
  // The dashboard is the demo's.
  nodesExcludes: ['node-red-dashboard'],
  logging: LOGGING,
} as const;

const NAME = '@device-cloud/node-red-device-cloud';

/** A user folder that is deleted with this process. */
function userFolder(packageFolder: string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), 'device-cloud-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const installed = join(folder, 'node_modules', NAME);
  mkdirSync(dirname(installed), { recursive: true });
  if (packageFolder !== undefined) symlinkSync(packageFolder, installed, 'junction');
  const dependencies = packageFolder === undefined ? {} : { [NAME]: '*' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(folder, 'flows.json'), '[]');
  return folder;
}

/**
 * Starts Node-RED with no flows.
 * @param packageFolder the built package to install, if any
 * @param prepare registers node types of the benchmark's own
 * @param settings of Node-RED, besides those of every subject
 */
export async function startNodeRed(
  packageFolder: string | undefined,
  prepare: (app: NodeRedApp) => void = () => undefined,
  settings: object = {},
): Promise<NodeRed> {
  const app = createRequire(__filename)('node-red') as NodeRedApp;
  const started = (): Promise<void> =>
    new Promise((resolve) => app.events.once('flows:started', () => resolve()));
  app.init(createServer(), { ...SETTINGS, ...settings, userDir: userFolder(packageFolder) });
  prepare(app);
  const running = started();
  await app.start();
  await running;
  return {
    app,
    async deploy(flows) {
      const nodes = app.nodes as unknown as { getType(type: string): unknown };
      // Node-RED would wait for them.
      const unknown = flows.find(({ type }) => type !== 'tab' && !nodes.getType(type));
      if (unknown) fail(`There is no node ${unknown.type}.`);
      const redeployed = started();
      // Without credentials beside them, those in the nodes are taken, which the types do not know.
      const deployed = { flows } as { flows: object[]; credentials: object };
      await app.runtime.flows.setFlows({ flows: deployed });
      await redeployed;
    },
  };
}
