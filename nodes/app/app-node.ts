import type { Node, NodeAPI } from 'node-red';
import type { DeviceCloudClient } from '../../src/client';
import { DeviceCloudError } from '../../src/errors';
import { APP_TYPE, type AppConfig, type AppCredentials } from './app.config';

/** Which of the service's faces a node uses: each has keys of its own. */
export type Api = 'open' | 'server';

/** What the credentials of a config node are deployed for: they are used against nothing else. */
export type Endpoint = Pick<AppConfig, 'baseUrl' | 'tls' | 'proxy'>;

/** The config node at run time, as the nodes that use it see it. */
export interface AppNode extends Node<AppCredentials> {
  /** Nodes that use this one, so that its errors and status reach their Catch and Status nodes. */
  users: Record<string, Node>;
  /** Why a api cannot be used, or undefined if it can. */
  problem(api: Api): DeviceCloudError | undefined;
  /** Announces a user; the first one starts what is shared. */
  join(node: Node): void;
  /** Takes a user's leave; the last one's stops what is shared. */
  leave(node: Node): void;
  /** Address, TLS and proxy as deployed, with each `${NAME}` replaced. */
  endpoint: Partial<Endpoint>;
  /** How the service writes `body` in history records. */
  historyEncoding: AppConfig['historyEncoding'];
  /** Time zone of the service's times, `±HH:MM`. */
  historyZone: string;
  /** Uses the client for a moment without being a node of a flow. */
  borrow<T>(api: Api, use: (client: DeviceCloudClient) => Promise<T>): Promise<T>;
  /** The client; a promise only while the simulator starts. Throws what `problem` tells. */
  client(api: Api): DeviceCloudClient | Promise<DeviceCloudClient>;
}

const isAppNode = (node: Node | null): node is AppNode => node?.type === APP_TYPE;

const missing = (): DeviceCloudError =>
  new DeviceCloudError(
    'NOT_CONFIGURED',
    'No application is chosen, or its configuration is missing or disabled. Open the node and choose one.',
  );

/** Finds the config node of a node. Its id may be missing, unknown, disabled or another type's. */
export function findApp(RED: NodeAPI, id: string): AppNode | DeviceCloudError {
  // The types promise a node; Node-RED gives null for an unknown or disabled one.
  const node = RED.nodes.getNode(id) as Node | null;
  return isAppNode(node) ? node : missing();
}
