import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import events from '@node-red/util/lib/events';
import flows from '@node-red/runtime/lib/flows';
import nodeRed, { type NodeMessage } from 'node-red';
import type { FlowNode } from '../../support/flow';

const PACKAGE = '@device-cloud/node-red-device-cloud';

const SETTINGS = {
  flowFile: 'flows.json',
  uiHost: '127.0.0.1',
  uiPort: 0,
  httpAdminRoot: false,
  httpNodeRoot: false,
  credentialSecret: false,
  telemetry: { enabled: false },
  logging: { console: { level: 'warn', metrics: false, audit: false } },
} as const;

/** A user folder with the package in it, as it lies in this repository. */
function makeUserDir(repository: string): string {
  const userDir = mkdtempSync(join(tmpdir(), 'device-cloud-matrix-'));
  process.once('exit', () => rmSync(userDir, { recursive: true, force: true }));
  const installed = join(userDir, 'node_modules', PACKAGE);
  mkdirSync(dirname(installed), { recursive: true });
  symlinkSync(repository, installed, 'junction');
  const manifest = { name: 'user', private: true, dependencies: { [PACKAGE]: '*' } };
  writeFileSync(join(userDir, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(userDir, 'flows.json'), '[]');
  return userDir;
}

/**
 * Starts a whole Node-RED in this process, with nothing of a test around it that would remember
 * nodes or messages. There can be one in a process, and it keeps the process alive.
 */
export async function startEmbedded(repository: string): Promise<void> {
  const started = once(events, 'flows:started');
  nodeRed.init(createServer(), { ...SETTINGS, userDir: makeUserDir(repository) });
  await nodeRed.start();
  await started;
}

/** Deploys a flow as the editor does, and waits until it runs. */
export async function deployEmbedded(
  nodes: readonly FlowNode[],
  type: 'full' | 'flows' | 'nodes',
): Promise<void> {
  const started = once(events, 'flows:started');
  await flows.setFlows(nodes, null, type);
  await started;
}

/** Hands a message to a node. */
export function receive(id: string, msg: NodeMessage): void {
  const node = flows.get(id);
  if (!node) throw new Error(`There is no node ${id}.`);
  node.receive(msg);
}
