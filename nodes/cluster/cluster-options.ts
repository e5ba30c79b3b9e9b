import type { Node, NodeAPI } from 'node-red';
import type { ClusterSettings } from '../../src/index';
import { tlsOf } from '../app/network';
import { textOf } from '../app/options';
import { substitute } from '../common/substitute';
import { numberOf } from '../common/values';
import { LEASE, type ClusterConfig, type ClusterCredentials } from './cluster.config';

/** The settings of a cluster as saved or typed: anything may be missing. */
export type SavedCluster = Partial<ClusterConfig> & {
  credentials?: ClusterCredentials | undefined;
};

/** Where a cluster is, without what tells applications apart in it. */
export type Engine = Omit<ClusterSettings, 'application'>;

/**
 * Reads the settings of a cluster node. What they must be like is checked by the library.
 * @param node the deployed config node, or undefined for settings that were only typed
 * @throws DeviceCloudError `NOT_CONFIGURED` if a variable is not set, or the TLS configuration is missing
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
    lease: numberOf(textOf(RED, node, saved.lease), LEASE.usual),
    ...(tls ? { tls } : {}),
  };
}
