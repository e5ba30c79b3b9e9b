import type { Node, NodeAPI } from 'node-red';
import {
  type ClusterClient,
  type DeviceCloudClient,
  type DeviceCloudError,
  type Keeping,
  notConfigured,
  type SavedCall,
} from '../../src/index';
import { findNode } from './settings';
import { APP_TYPE, type Charset } from './shared.config';

/** Which of the service's interfaces a node calls: each has keys of its own. */
export type Api = 'open' | 'server';

/** Keeps the commands of nodes that wait, over deploys and restarts. */
export interface CommandKeeper {
  /** Resolves when the commands of earlier times are back, before which none may wait; undefined from then on. */
  readonly ready: Promise<void> | undefined;
  /** A call has arrived whose commands may wait. @param whatOf returns what its node needs to make it again */
  add(node: string, chipids: readonly string[], whatOf: (chipid: string) => unknown): SavedCall;
  /**
   * A node runs whose commands may wait.
   * @param settings what its commands depend on: if that has changed, they end with `CANCELLED`
   * @param resume is called with each command that is given back, and with what was kept of it
   * @returns a function to be called when the node closes
   */
  register(
    node: Node,
    settings: object,
    resume: (saved: SavedCall, what: unknown) => void,
  ): () => void;
}

/** The processes that share the devices of an application, as nodes see them. */
export type ClusterView = Pick<
  ClusterClient,
  'state' | 'owned' | 'others' | 'owns' | 'setSubscribed' | 'subscribed' | 'lend'
>;

/** An application, as the nodes that use it see it. */
export interface App {
  /** Why an interface cannot be used; undefined if it can. */
  problem(api: Api): DeviceCloudError | undefined;
  /**
   * Adds a user; the first one starts the client.
   * @param onProblem is called if it turns out only then that no interface can be used
   */
  join(node: Node, onProblem?: (problem: DeviceCloudError) => void): void;
  /** Removes a user; the last one stops the client. */
  leave(node: Node): void;
  /** Whether its service is the built-in simulator, which forgets everything with Node-RED. */
  readonly isSimulated: boolean;
  /** Of the built-in simulator: what survives a deploy, but not Node-RED. */
  readonly memory: Keeping | undefined;
  /** Whether other processes share its devices. */
  readonly isShared: boolean;
  /** Of text that is not UTF-8 in an upload. */
  readonly charset: Charset;
  /** Lends the client to a user that is not a node of a flow, such as an admin route. */
  borrow<T>(api: Api, use: (client: DeviceCloudClient) => Promise<T>): Promise<T>;
  /** The client, once what takes time has been started. @throws the problem, if there is one */
  client(api: Api): Promise<DeviceCloudClient>;
  /** The client, if there is one: makes and starts none. */
  current(): DeviceCloudClient | undefined;
  /** What survives a restart. @throws if there is no application */
  store(): Keeping;
  /** Undefined if no other process shares its devices. */
  cluster(): ClusterView | undefined;
  /** Undefined if there is no application. */
  readonly keeper: CommandKeeper | undefined;
}

export const noApp = (): DeviceCloudError =>
  notConfigured(
    'No application is chosen, or its configuration is missing or disabled. Open the node and choose one.',
  );

/** Takes the place of an application that does not exist. */
const NO_APP: App = {
  problem: noApp,
  join: () => undefined,
  leave: () => undefined,
  isSimulated: false,
  memory: undefined,
  isShared: false,
  charset: 'utf-8',
  borrow: () => Promise.reject(noApp()),
  client: () => Promise.reject(noApp()),
  current: () => undefined,
  store: () => {
    throw noApp();
  },
  cluster: () => undefined,
  keeper: undefined,
};

/** Finds the application of a node. If it is missing, `problem` of the result says so. */
export const findApp = (RED: NodeAPI, id: string | undefined): App =>
  (findNode(RED, id, APP_TYPE) as (Node & { app: App }) | undefined)?.app ?? NO_APP;
