import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import tlsConfig from '@node-red/nodes/core/network/05-tls.js';
import httpProxy from '@node-red/nodes/core/network/06-httpproxy.js';
import splitAndJoin from '@node-red/nodes/core/sequence/17-split.js';
import events from '@node-red/util/lib/events';
import helper from 'node-red-node-test-helper';
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import { BUILT_IN_DEVICES, type Simulator } from '../../../src/simulator';
import { journal } from './journal';
import { CANARIES } from './secrets';
import type { FlowNode } from '../../tooling/node-red/nodes';

type Module = (RED: NodeAPI) => void;

const loadModule = createRequire(join(__dirname, '../../../../package.json'));
const manifest = loadModule('./package.json') as {
  'node-red': { nodes: Record<string, string> };
};

/** Every node of the package, as Node-RED finds them, and the core nodes that tests need. */
const MODULES: readonly Module[] = [
  ...Object.values(manifest['node-red'].nodes).map((path) => loadModule(`./${path}`) as Module),
  splitAndJoin,
  tlsConfig,
  httpProxy,
];

/** Without x and y Node-RED treats a node as a config node. */
const PLACE = { z: 'tab', x: 0, y: 0 } as const;

/** A node as a hand-written flow may have it: `app` and the given properties, nothing else. */
export const node = (kind: string, properties: object = {}): FlowNode => ({
  id: kind,
  type: `device-cloud-${kind}`,
  ...PLACE,
  app: 'app',
  wires: [['out']],
  ...properties,
});

/** A node of Node-RED's own. */
export const coreNode = (type: string, properties: object = {}): FlowNode => ({
  id: type,
  type,
  ...PLACE,
  wires: [['out']],
  ...properties,
});

/** The config node `app` for a service. */
export const cloudApp = (
  { baseUrl, appid }: Pick<Simulator, 'baseUrl' | 'appid'>,
  properties: object = {},
): FlowNode => ({
  id: 'app',
  type: 'device-cloud-app',
  service: 'cloud',
  baseUrl,
  appid,
  ...properties,
});

/** The chip numbers of the built-in simulator's devices that are always online. */
export const ALWAYS_ONLINE = BUILT_IN_DEVICES.filter(({ sleep }) => !sleep).map(({ chipid }) =>
  String(chipid),
);

/** The config node `app` for the simulator that the package starts itself. */
export const simulatorApp = (properties: object = {}): FlowNode => ({
  id: 'app',
  type: 'device-cloud-app',
  service: 'simulator',
  ...properties,
});

const SINKS = ['out', 'caught', 'completed'];

/** The flow around the nodes: what they send, what Catch nodes see, what Complete nodes see. */
function whole(nodes: readonly FlowNode[]): FlowNode[] {
  const scope = nodes.map(({ id }) => id);
  return [
    { id: 'tab', type: 'tab', label: 'test' },
    ...nodes,
    { ...PLACE, id: 'catch', type: 'catch', scope: null, wires: [['caught']] },
    { ...PLACE, id: 'complete', type: 'complete', scope, wires: [['completed']] },
    ...SINKS.map((id) => ({ ...PLACE, id, type: 'helper', wires: [] })),
  ];
}

const watched = new WeakSet<Node>();

/** Notes what arrives at the sinks of the flow that runs. A deploy does it by itself. */
export function watchSinks(): void {
  for (const sink of SINKS) {
    const found = helper.getNode(sink);
    if (!found || watched.has(found)) continue;
    watched.add(found);
    found.on('input', (msg: NodeMessage, _send, done) => {
      journal.arrived.push({ sink, msg });
      done();
    });
  }
}

/** Credentials by the id of the config node; a new object each time, since Node-RED removes entries from it. */
const keys = (): object => ({ app: { ...CANARIES }, app2: { ...CANARIES } });

/**
 * Starts a flow of these nodes, with sinks and Catch and Complete nodes around them.
 * @param first modules that Node-RED loads before those of the package
 */
export async function load(
  nodes: readonly FlowNode[],
  credentials = keys(),
  first: readonly Module[] = [],
): Promise<void> {
  await helper.load([...first, ...MODULES], whole(nodes), credentials);
  watchSinks();
}

/** Deploys another flow in place of the one that runs. */
export async function deploy(
  nodes: readonly FlowNode[],
  type: 'full' | 'flows' | 'nodes' = 'full',
): Promise<void> {
  const started = once(events, 'flows:started');
  await helper.setFlows(whole(nodes), type, keys()).catch((error: unknown) => {
    // The helper waits 0.3 s, which is a matter of load and not of the flow.
    if (!(error instanceof Error && error.message === 'timeout waiting event')) throw error;
  });
  await started;
  watchSinks();
}
