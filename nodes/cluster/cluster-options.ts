import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudError, type ClusterSettings } from '../../src/index';
import { show } from '../../src/input';
import { tlsOf } from '../common/network';
import { substitute, textOf } from '../common/variables';
import { numberOf } from '../common/values';
import { LEASE, type ClusterConfig, type ClusterCredentials } from './cluster.config';

/** The settings of a cluster as saved or typed: anything may be missing. */
export type SavedCluster = Partial<ClusterConfig> & {
  credentials?: ClusterCredentials | undefined;
};

/** Where a cluster is, without what tells applications apart in it. */
export type Engine = Omit<ClusterSettings, 'application'>;

function leaseOf(text: string): number {
  const lease = numberOf(text, LEASE.usual);
  if (!Number.isNaN(lease)) return lease;
  throw new DeviceCloudError(
    'NOT_CONFIGURED',
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
