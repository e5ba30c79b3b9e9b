import type { Node, NodeAPI, NodeDef } from 'node-red';
import { noApp } from '../common/app';
import { findInFlows, findNode } from '../common/settings';
import { APP_TYPE, readText } from '../common/shared.config';
import type { AppConfig, AppCredentials } from './app.config';
import type { AppNode } from './application';

export type { AppNode } from './application';

/** The address and settings that the credentials of a config node were deployed with: they are used with no others. */
export type Endpoint = Pick<AppConfig, 'baseUrl' | 'tls' | 'proxy'>;

/** Finds the config node of an id, which may be missing, unknown, disabled or another type's. */
export const findAppNode = (RED: NodeAPI, id: string): AppNode | undefined =>
  findNode(RED, id, APP_TYPE) as AppNode | undefined;

/** The same. @throws DeviceCloudError `NOT_CONFIGURED` if it does not run */
export function appNodeOf(RED: NodeAPI, id: unknown): AppNode {
  const node = findAppNode(RED, String(id));
  if (!node) throw noApp();
  return node;
}

/** A deployed config node, disabled or not. */
interface DeployedApp {
  /** As it was saved, with each `${NAME}` in it. */
  saved: Pick<NodeDef, 'id' | 'type'> & Partial<NodeDef & AppConfig>;
  /** The running node; a disabled one, or one in a subflow's template, does not run. */
  node: AppNode | undefined;
}

/** Those that run. Node-RED lists no node of an instance of a subflow. */
const running = new Set<AppNode>();

/** An application runs until its node closes. */
export function addRunning(node: AppNode): void {
  running.add(node);
  node.on('close', (_removed: boolean, done: () => void) => {
    running.delete(node);
    done();
  });
}

/** The id under which a node is in the flows: of one in an instance of a subflow, that of the template's node. */
export const savedId = (node: Node): string => (node as { _alias?: string })._alias ?? node.id;

/** All applications that run. */
export const runningApps = (): AppNode[] => [...running];

/** The name of an application; in an instance of a subflow followed by that of the instance. */
export function nameOfApp(RED: NodeAPI, node: AppNode): string {
  const name = readText(node.name) ?? '';
  if (savedId(node) === node.id) return name;
  let instance = '';
  RED.nodes.eachNode(({ id, name: own }) => {
    if (id === node.z) instance = readText(own) ?? '';
  });
  return [name, instance || node.z || ''].filter(Boolean).join(' · ');
}

const ENDPOINT = ['baseUrl', 'tls', 'proxy'] as const;

/** Finds the deployed config node of an id. Undefined for an id of anything else. */
export function findDeployed(RED: NodeAPI, id: string | undefined): DeployedApp | undefined {
  const saved = id === undefined ? undefined : findInFlows<AppConfig>(RED, id);
  return id !== undefined && saved?.type === APP_TYPE
    ? { saved, node: findAppNode(RED, id) }
    : undefined;
}

const trimmed = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/**
 * Whether settings have the address, TLS and proxy that an application was deployed with: as they were saved, or as they are
 * once Node-RED has replaced each `${NAME}`.
 */
export const isDeployedEndpoint = (
  settings: Partial<Endpoint>,
  { saved, node }: DeployedApp,
): boolean =>
  ENDPOINT.every((key) => {
    const value = trimmed(settings[key]);
    return value === trimmed(saved[key]) || (node && value === trimmed(node.app.config[key]));
  });

/** The deployed credentials; a running node's without `${NAME}`, as it uses them. */
export function deployedCredentials(RED: NodeAPI, { saved, node }: DeployedApp): AppCredentials {
  const stored: unknown = node?.credentials ?? RED.nodes.getCredentials(saved.id);
  return (stored as AppCredentials | undefined) ?? {};
}
