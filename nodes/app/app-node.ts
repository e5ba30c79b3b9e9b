import type { Node, NodeAPI } from 'node-red';
import type { ClusterProblem, ClusterState, Fleet, QueueState } from '../../src/index';
import { findRunningApp, type App } from '../common/app';
import type { AppConfig, AppCredentials } from './app.config';

/** The address and settings that the credentials of a config node were deployed with: they are used with no others. */
export type Endpoint = Pick<AppConfig, 'baseUrl' | 'tls' | 'proxy'>;

/** The cluster as the editor shows it. */
export interface FleetCluster {
  state: ClusterState;
  /** How many processes share the devices. */
  processes: number;
  /** The setting that keeps this process from the engine, and the engine's words; neither address nor secret. */
  problem?: ClusterProblem;
  /** Uploads in the queue, and those that were given up. */
  queue?: QueueState;
}

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
  /** Undefined if the devices are not shared. */
  processes: DeviceProcesses | undefined;
  /** Called when the fleet is viewed: keeps it up to date for a minute, if a node uses the application. */
  viewFleet(): void;
}

/** Finds the config node of an id, which may be missing, unknown, disabled or another type's. */
export const findAppNode = (RED: NodeAPI, id: string): AppNode | undefined =>
  findRunningApp(RED, id) as AppNode | undefined;
