import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudError } from '../../src/index';
import { CLUSTER_TYPE, type ClusterConfig, type ClusterCredentials } from './cluster.config';
import type { MembershipUse } from './memberships';

/** The address and settings that the credentials of a cluster were deployed with: they are used with no others. */
export const ENDPOINT = ['url', 'sentinels', 'master', 'tls'] as const;
export type ClusterEndpoint = Pick<ClusterConfig, (typeof ENDPOINT)[number]>;

/** The config node at run time. */
export interface ClusterNode extends Node<ClusterCredentials> {
  /** As deployed, with each property that is a `${NAME}` replaced. */
  endpoint: Partial<ClusterEndpoint>;
  /** Shares an application. @throws DeviceCloudError `NOT_CONFIGURED` */
  share(application: string): MembershipUse;
  /** Whether Node-RED stops, and not only deploys: then the devices are freed at once. */
  isStopping: boolean;
}

const isCluster = (node: Node | null): node is ClusterNode => node?.type === CLUSTER_TYPE;

/** Finds the running config node of an id. */
export function findCluster(RED: NodeAPI, id: string | undefined): ClusterNode | undefined {
  if (!id) return undefined;
  // The types promise a node; Node-RED gives null for an unknown or disabled one.
  const node = RED.nodes.getNode(id) as Node | null;
  return isCluster(node) ? node : undefined;
}

export const noCluster = (): DeviceCloudError =>
  new DeviceCloudError(
    'NOT_CONFIGURED',
    'The cluster of the application is missing or disabled. Open the application and choose another, or none.',
  );
