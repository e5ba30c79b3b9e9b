import type { Node } from 'node-red';
import { type ClusterSettings, notConfigured, readAddress, show } from '../../src/index';
import type { Runtime } from '../common/action';
import { readProperties, textOf, tlsOf } from '../common/settings';
import {
  CHOICES,
  DEFAULTS,
  LEASE,
  type ClusterConfig,
  type ClusterCredentials,
} from './cluster.config';

/** The config node at run time. */
export interface ClusterNode extends Node<ClusterCredentials> {
  /** Where the engine is. @throws DeviceCloudError `NOT_CONFIGURED` */
  settings(): ClusterSettings;
}

function leaseOf(value: unknown): number {
  const lease = Number(value);
  if (lease >= LEASE.min && lease <= LEASE.max) return 1000 * lease;
  throw notConfigured(
    `The lease of the cluster must be a number from ${LEASE.min} to ${LEASE.max}, but is ${show(value)}.`,
  );
}

/** The config node: an engine on which several processes share the devices of an application. */
export const runtime: Runtime<ClusterConfig, ClusterNode> = (RED) => (node, def) => {
  const { config, problem } = readProperties<ClusterConfig>(def, DEFAULTS, CHOICES);
  node.settings = () => {
    if (problem !== undefined) throw notConfigured(problem);
    const text = (value: unknown): string => textOf(RED, node, value).trim();
    const { user, password } = (node.credentials as ClusterCredentials | undefined) ?? {};
    const tls = tlsOf(RED, config.tls);
    const settings = {
      url: text(config.url),
      sentinels: text(config.sentinels),
      master: text(config.master),
      user: text(user),
      password: textOf(RED, node, password),
      lease: leaseOf(config.lease),
      ...(tls && { tls }),
    };
    readAddress(settings, tls !== undefined);
    return settings;
  };
};
