import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { Fleet } from '../../src/index';
import type { WaitingCommands } from '../../src/for-nodes';
import type { KeptPin } from '../../src/for-nodes';
import { isSameEndpoint } from '../common/admin';
import { findRunningApp, type App } from '../common/app';
import { APP_TYPE, isVariable } from '../common/shared.config';
import type { FleetCluster } from './answers.config';
import type { AppConfig, AppCredentials } from './app.config';
import type { Recordings } from './recordings';

/** The address and settings that the credentials of a config node were deployed with: they are used with no others. */
export type Endpoint = Pick<AppConfig, 'baseUrl' | 'tls' | 'proxy'>;

/** Which process of the cluster holds each device. */
export interface DeviceProcesses {
  /**
   * Reads which process holds each device, and the length of the queue; the cluster is asked at most every two seconds.
   * @returns whether anything has changed. If the cluster cannot be reached, all stays as it was
   */
  read(): Promise<boolean>;
  /** Undefined before this process has a membership. */
  cluster(): FleetCluster | undefined;
  /** Whether another process holds a device. */
  isElsewhere(chipid: string): boolean;
  /** The id of the process that holds a device, if it is known. */
  of(chipid: string): string | undefined;
  /** The devices that have moved of late. */
  moved(): string[];
}

/** The config node at run time. */
export interface AppNode extends App, Node<AppCredentials> {
  /** Nodes that use this one, so that its errors and status reach their Catch and Status nodes. */
  users: Record<string, Node>;
  /** Address, TLS and proxy as deployed, with each `${NAME}` replaced. */
  endpoint: Partial<Endpoint>;
  historyEncoding: App['historyEncoding'];
  historyZone: string;
  charset: App['charset'];
  /** What is known of its devices; undefined without a client. Starts nothing. */
  fleet: () => Fleet | undefined;
  /** Its commands that wait for their devices; undefined without a client. Starts nothing. */
  waiting: () => WaitingCommands | undefined;
  /** The pins of a device that keep their levels. */
  pins: (chipid: string) => KeptPin[];
  /** Undefined if the devices are not shared. */
  processes: DeviceProcesses | undefined;
  recordings: Recordings;
  /** Called when the fleet is viewed: keeps it up to date for a minute, if a node uses the application. */
  viewFleet(): void;
}

/** Finds the config node of an id, which may be missing, unknown, disabled or another type's. */
export const findAppNode = (RED: NodeAPI, id: string): AppNode | undefined =>
  findRunningApp(RED, id) as AppNode | undefined;

/** A config node that runs. */
export interface RunningApp {
  /** As it was saved, with each `${NAME}` in it. */
  saved: Pick<NodeDef, 'id' | 'type'> & Partial<NodeDef & AppConfig>;
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
  service === 'simulator' || service === 'recording' ? service : 'cloud';

const ENDPOINT = ['baseUrl', 'tls', 'proxy'] as const;

/** A deployed config node, disabled or not. */
interface DeployedApp {
  /** As it was saved, with each `${NAME}` in it. */
  saved: NodeDef & Partial<AppConfig>;
  /** The running node; a disabled one, or one in a subflow's template, does not run. */
  node: AppNode | undefined;
}

/** Finds the deployed config node of an id. Undefined for an id of anything else. */
export function findDeployed(RED: NodeAPI, id: string | undefined): DeployedApp | undefined {
  let saved: (NodeDef & Partial<AppConfig>) | undefined;
  RED.nodes.eachNode((node) => {
    if (node.id === id && node.type === APP_TYPE) saved = node;
  });
  if (!saved) return undefined;
  return { saved, node: findAppNode(RED, saved.id) };
}

/** The same of an application's address, TLS and proxy. */
export const isDeployedEndpoint = (
  settings: Partial<Endpoint>,
  { saved, node }: DeployedApp,
): boolean => isSameEndpoint(ENDPOINT, settings, saved, node?.endpoint);

/** The deployed credentials; those of a running node without `${NAME}`, as it uses them. */
export function deployedCredentials(RED: NodeAPI, { saved, node }: DeployedApp): AppCredentials {
  const stored: unknown = node?.credentials ?? RED.nodes.getCredentials(saved.id);
  return (stored as AppCredentials | undefined) ?? {};
}

/** An address in use, and what was saved for it, such as `${NAME}`. */
interface Hidden {
  used: string;
  saved: string;
}

/** The address of a proxy configuration as it was saved. */
function savedProxy(RED: NodeAPI, id: string): string {
  let url: unknown;
  RED.nodes.eachNode((node) => {
    if (node.id === id) url = (node as { url?: unknown }).url;
  });
  return typeof url === 'string' ? url : '';
}

/** The addresses of the service and of the proxy. */
function usedAddresses(RED: NodeAPI, id: string | undefined): Hidden[] {
  const deployed = findDeployed(RED, id);
  if (!deployed?.node) return [];
  const { baseUrl = '', proxy = '' } = deployed.node.endpoint;
  const running = RED.nodes.getNode(proxy) as (Node & { url?: unknown }) | null;
  const address = typeof running?.url === 'string' ? running.url : '';
  return [
    { used: baseUrl, saved: deployed.saved.baseUrl ?? '' },
    { used: address, saved: savedProxy(RED, proxy) },
  ];
}

/** The forms in which errors name an address; a proxy's may lack its scheme. */
function namesOf(address: string): string[] {
  const text = /^[a-z0-9+.-]+:\/\//i.test(address) ? address : `http://${address}`;
  if (!URL.canParse(text)) return [];
  const { origin, host, hostname } = new URL(text);
  return [origin, host, hostname].filter((name) => name !== '');
}

function replacer(hidden: readonly Hidden[]): (message: string) => string {
  const parts = hidden.flatMap(({ used, saved }) =>
    namesOf(used).map((name) => [name, saved] as const),
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
  const hidden = usedAddresses(RED, id).filter(({ saved }) => isVariable(saved));
  if (hidden.length === 0 || (await maySeeVariables())) return (message) => message;
  return replacer(hidden);
}

/** Makes a function that removes every address from a message that will be published. */
export const withoutAddresses = (
  RED: NodeAPI,
  id: string | undefined,
): ((message: string) => string) =>
  replacer(
    usedAddresses(RED, id).map(({ used, saved }) => ({
      used,
      saved: isVariable(saved) ? saved : '<address>',
    })),
  );
