import type { Node, NodeAPI } from 'node-red';
import type { DeviceCloudError, ClusterSettings } from '../../src/index';
import { notConfigured, show } from '../../src/input';
import { findNode, substitute, textOf, tlsOf } from '../common/settings';
import {
  CLUSTER_TYPE,
  DEFAULTS,
  LEASE,
  type ClusterConfig,
  type ClusterCredentials,
} from './cluster.config';
import type { MembershipUse } from './memberships';

/** The address and settings that the credentials of a cluster were deployed with: they are used with no others. */
export const ENDPOINT = ['url', 'sentinels', 'master', 'tls'] as const;
type ClusterEndpoint = Pick<ClusterConfig, (typeof ENDPOINT)[number]>;

/** The config node at run time. */
export interface ClusterNode extends Node<ClusterCredentials> {
  /** As deployed, with each property that is a `${NAME}` replaced. */
  endpoint: Partial<ClusterEndpoint>;
  /** Shares an application. @param warn logs a fault of the cluster @throws DeviceCloudError `NOT_CONFIGURED` */
  share(application: string, warn: (line: string) => void): MembershipUse;
  /** Whether Node-RED stops, and not only deploys: then the devices are freed at once. */
  isStopping: boolean;
}

/** Finds the running config node of an id. */
export const findCluster = (RED: NodeAPI, id: string | undefined): ClusterNode | undefined =>
  findNode(RED, id, CLUSTER_TYPE) as ClusterNode | undefined;

export const noCluster = (): DeviceCloudError =>
  notConfigured(
    'The cluster of the application is missing or disabled. Open the application and choose another, or none.',
  );

/** The settings of a cluster as saved or typed: anything may be missing. */
export type SavedCluster = Partial<ClusterConfig> & {
  credentials?: ClusterCredentials | undefined;
};

/** Where a cluster is, without what tells applications apart in it. */
export type Engine = Omit<ClusterSettings, 'application'>;

function leaseOf(text: string): number {
  const lease = Number(text.trim() === '' ? DEFAULTS.lease : text);
  if (!Number.isNaN(lease)) return 1000 * lease;
  throw notConfigured(
    `The lease of the cluster must be a number of seconds from ${LEASE.min} to ${LEASE.max}, but is ${show(text)}.`,
  );
}

/**
 * Reads the settings of a cluster node. What they must be like is checked by the library.
 * @param node the deployed config node, or undefined for settings that were only typed
 * @throws DeviceCloudError `NOT_CONFIGURED` if a variable is not set, the lease is not a number, or the TLS configuration
 *   is missing
 */
export function engineOf(RED: NodeAPI, node: Node | undefined, saved: SavedCluster): Engine {
  const text = (value: unknown): string =>
    typeof value === 'string' ? substitute(RED, node, value) : '';
  const { user, password } = saved.credentials ?? {};
  const tls = tlsOf(RED, saved.tls);
  return {
    url: text(saved.url),
    sentinels: text(saved.sentinels),
    master: text(saved.master),
    // A password may well contain what looks like a variable inside a text.
    user: textOf(RED, node, user),
    password: textOf(RED, node, password),
    lease: leaseOf(textOf(RED, node, saved.lease)),
    ...(tls ? { tls } : {}),
  };
}
