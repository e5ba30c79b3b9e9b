import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { Fleet, KeptPin, WaitingCommands } from '../../src/for-nodes';
import { noApp, type App } from '../common/app';
import { findNode, findSaved, PROXY_TYPE, type ProxyNode } from '../common/settings';
import { APP_TYPE, isVariable } from '../common/shared.config';
import type { AppConfig, AppCredentials } from './app.config';

/** The address and settings that the credentials of a config node were deployed with: they are used with no others. */
export type Endpoint = Pick<AppConfig, 'baseUrl' | 'tls' | 'proxy'>;

/** The config node at run time. */
export interface AppNode extends App, Node<AppCredentials> {
  /** Nodes that use this one, so that its errors and status reach their Catch and Status nodes. */
  users: Record<string, Node>;
  /** Address, TLS and proxy as deployed, with each `${NAME}` replaced. */
  endpoint: Partial<Endpoint>;
  /** What is known of its devices; undefined without a client. Starts nothing. */
  fleet: () => Fleet | undefined;
  /** Its commands that wait for their devices; undefined without a client. Starts nothing. */
  waiting: () => WaitingCommands | undefined;
  /** The pins of a device that keep their levels. */
  pins: (chipid: string) => KeptPin[];
  /** Called when the fleet is viewed: keeps it up to date for a minute, if a node uses the application. */
  viewFleet(): void;
}

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

/** A config node that runs. */
export interface RunningApp extends DeployedApp {
  node: AppNode;
}

/** All applications that run. */
export function runningApps(RED: NodeAPI): RunningApp[] {
  const apps: RunningApp[] = [];
  RED.nodes.eachNode((saved: RunningApp['saved']) => {
    const node = saved.type === APP_TYPE ? findAppNode(RED, saved.id) : undefined;
    if (node) apps.push({ saved, node });
  });
  return apps;
}

export const serviceOf = ({ service }: RunningApp['saved']): AppConfig['service'] =>
  service === 'simulator' ? service : 'cloud';

const ENDPOINT = ['baseUrl', 'tls', 'proxy'] as const;

/** Finds the deployed config node of an id. Undefined for an id of anything else. */
export function findDeployed(RED: NodeAPI, id: string | undefined): DeployedApp | undefined {
  const saved = findSaved<AppConfig>(RED, id, APP_TYPE);
  return saved && { saved, node: findAppNode(RED, saved.id) };
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
    return value === trimmed(saved[key]) || (node && value === trimmed(node.endpoint[key]));
  });

/** The deployed credentials; a running node's without `${NAME}`, as it uses them. */
export function deployedCredentials(RED: NodeAPI, { saved, node }: DeployedApp): AppCredentials {
  const stored: unknown = node?.credentials ?? RED.nodes.getCredentials(saved.id);
  return (stored as AppCredentials | undefined) ?? {};
}

/** An address in use, and what was saved for it, such as `${NAME}`. */
type Hidden = readonly [used: string, saved: string];

/** The addresses of the service and of the proxy. */
function usedAddresses(RED: NodeAPI, id: string | undefined): Hidden[] {
  const deployed = findDeployed(RED, id);
  if (!deployed?.node) return [];
  const { baseUrl = '', proxy = '' } = deployed.node.endpoint;
  const running = findNode(RED, proxy, PROXY_TYPE) as ProxyNode | undefined;
  const saved = findSaved<ProxyNode>(RED, proxy, PROXY_TYPE)?.url ?? '';
  const service: Hidden = [baseUrl, deployed.saved.baseUrl ?? ''];
  return [service, [running?.url ?? '', saved]];
}

/** The forms in which errors name an address; a proxy's may lack its scheme. */
function namesOf(address: string): string[] {
  const text = /^[a-z0-9+.-]+:\/\//i.test(address) ? address : `http://${address}`;
  if (!URL.canParse(text)) return [];
  const { origin, host, hostname } = new URL(text);
  return [origin, host, hostname].filter((name) => name !== '');
}

function replacer(hidden: readonly Hidden[]): (message: string) => string {
  const parts = hidden.flatMap(([used, saved]) =>
    namesOf(used).map((name): Hidden => [name, saved]),
  );
  return (message) =>
    parts.reduce((text, [name, saved]) => text.replaceAll(name, () => saved), message);
}

/**
 * Makes a function that replaces an address by the `${NAME}` that was saved for it, unless the user may
 * read variables.
 * @param maySeeVariables called only if the answer matters
 */
export async function addressHider(
  RED: NodeAPI,
  id: string | undefined,
  maySeeVariables: () => Promise<boolean>,
): Promise<(message: string) => string> {
  const hidden = usedAddresses(RED, id).filter(([, saved]) => isVariable(saved));
  if (hidden.length === 0 || (await maySeeVariables())) return (message) => message;
  return replacer(hidden);
}

/** Makes a function that removes every address from a message that will be published. */
export function withoutAddresses(RED: NodeAPI, id: string): (message: string) => string {
  const shown = (saved: string): string => (isVariable(saved) ? saved : '<address>');
  return replacer(usedAddresses(RED, id).map(([used, saved]) => [used, shown(saved)]));
}
