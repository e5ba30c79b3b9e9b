import type { Node, NodeAPI } from 'node-red';
import {
  DeviceCloudError,
  type ClusterMember,
  type DeviceCloudClient,
  type Fleet,
} from '../../src/index';
import type { FleetProcesses } from './fleet-processes';
import { APP_TYPE, DEFAULT_ZONE, type AppConfig, type AppCredentials } from './app.config';

/** Which of the service's interfaces a node calls: each has keys of its own. */
export type Api = 'open' | 'server';

/** What the credentials of a config node are deployed for: they are used against nothing else. */
export type Endpoint = Pick<AppConfig, 'baseUrl' | 'tls' | 'proxy'>;

/** An application, as the nodes that use it see it. */
export interface App {
  /** Why an interface cannot be used; undefined if it can. */
  problem(api: Api): DeviceCloudError | undefined;
  /**
   * Adds a user; the first one starts what is shared.
   * @param onProblem is called if it turns out only then that no interface can be used
   */
  join(node: Node, onProblem?: (problem: DeviceCloudError) => void): void;
  /** Removes a user; the last one stops what is shared. */
  leave(node: Node): void;
  /** How the service writes `body` in history records. */
  readonly historyEncoding: AppConfig['historyEncoding'];
  /** Time zone of the service's times, `±HH:MM`. */
  readonly historyZone: string;
  /** Lends the client to a user that is not a node of a flow, such as an admin route. */
  borrow<T>(api: Api, use: (client: DeviceCloudClient) => Promise<T>): Promise<T>;
  /** The client; a promise only while the simulator starts. @throws the problem, if there is one */
  client(api: Api): DeviceCloudClient | Promise<DeviceCloudClient>;
}

/** The config node at run time. */
export interface AppNode extends App, Node<AppCredentials> {
  /** Nodes that use this one, so that its errors and status reach their Catch and Status nodes. */
  users: Record<string, Node>;
  /** Address, TLS and proxy as deployed, with each `${NAME}` replaced. */
  endpoint: Partial<Endpoint>;
  historyEncoding: App['historyEncoding'];
  historyZone: string;
  /** What is known of its devices; undefined without a client. Starts nothing. */
  fleet: () => Fleet | undefined;
  /** This process's membership, if the devices are shared and it has joined. */
  cluster: () => ClusterMember | undefined;
  /** Which of them holds each device, if the devices are shared. */
  processes: FleetProcesses | undefined;
  /** Called when somebody looks at the fleet: keeps it up to date for a minute, if a node uses the application. */
  viewFleet(): void;
}

const missing = (): DeviceCloudError =>
  new DeviceCloudError(
    'NOT_CONFIGURED',
    'No application is chosen, or its configuration is missing or disabled. Open the node and choose one.',
  );

/** Takes the place of an application that does not exist. */
const NO_APP: App = {
  problem: missing,
  join: () => undefined,
  leave: () => undefined,
  historyEncoding: 'auto',
  historyZone: DEFAULT_ZONE,
  borrow: () => Promise.reject(missing()),
  client: () => {
    throw missing();
  },
};

const isAppNode = (node: Node | null): node is AppNode => node?.type === APP_TYPE;

/** Finds the config node of an id, which may be missing, unknown, disabled or another type's. */
export function findAppNode(RED: NodeAPI, id: string): AppNode | undefined {
  // The types promise a node; Node-RED gives null for an unknown or disabled one.
  const node = RED.nodes.getNode(id) as Node | null;
  return isAppNode(node) ? node : undefined;
}

/** Finds the application of a node. If it is missing, `problem` of what is returned says so. */
export const findApp = (RED: NodeAPI, id: string): App => findAppNode(RED, id) ?? NO_APP;
