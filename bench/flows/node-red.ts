import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { NodeRedApp } from 'node-red';
import type { FlowNode } from '../../test/e2e/harness/flows';
import { repository } from '../../test/support/repository';

/** A Node-RED inside this process. */
export interface NodeRed {
  app: NodeRedApp;
  /** Replaces the flows, and waits until the new ones run. */
  deploy(flows: FlowNode[]): Promise<void>;
}

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
  logging: { console: { level: 'warn', metrics: false, audit: false } },
} as const;

const NAME = '@device-cloud/node-red-device-cloud';

/** A user folder that goes with this process. @param withPackage whether the built package is installed in it */
function userFolder(withPackage: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'device-cloud-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  process.once('SIGTERM', () => process.exit());
  const installed = join(folder, 'node_modules', NAME);
  mkdirSync(dirname(installed), { recursive: true });
  if (withPackage) symlinkSync(repository, installed, 'junction');
  const dependencies = withPackage ? { [NAME]: '*' } : {};
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  return folder;
}

/** Starts Node-RED with no flows. @param prepare registers node types of the benchmark's own */
export async function startNodeRed(
  prepare: (app: NodeRedApp) => void = () => undefined,
  withPackage = true,
): Promise<NodeRed> {
  const app = createRequire(__filename)('node-red') as NodeRedApp;
  const userDir = userFolder(withPackage);
  writeFileSync(join(userDir, 'flows.json'), '[]');
  const started = (): Promise<void> =>
    new Promise((resolve) => app.events.once('flows:started', () => resolve()));
  app.init(createServer(), { ...SETTINGS, userDir });
  prepare(app);
  const running = started();
  await app.start();
  await running;
  return {
    app,
    async deploy(flows) {
      const redeployed = started();
      // Without credentials of their own, those in the nodes are taken, which the types do not know.
      const deployed = { flows } as { flows: object[]; credentials: object };
      await app.runtime.flows.setFlows({ flows: deployed });
      await redeployed;
    },
  };
}
