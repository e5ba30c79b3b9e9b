import type { NodeAPI, NodeDef } from 'node-red';
import { isSameEndpoint, type Refusal } from '../common/admin/settings-test';
import { hasVariable } from '../common/variables';
import { isVariable } from '../common/values';
import { CLUSTER_TYPE, type ClusterConfig, type ClusterCredentials } from './cluster.config';
import { ENDPOINT, findCluster, type ClusterNode } from './cluster-node';
import type { SavedCluster } from './cluster-options';

const CREDENTIALS = ['user', 'password'] as const;

/** The settings to try, and where they come from. */
export interface TestSettings {
  readonly settings: SavedCluster;
  readonly node: ClusterNode | undefined;
  /** Whether they are those that are deployed. */
  readonly isDeployed: boolean;
  readonly refused: Refusal | undefined;
}

function findSaved(RED: NodeAPI, id: string | undefined): Partial<ClusterConfig> | undefined {
  let saved: (NodeDef & Partial<ClusterConfig>) | undefined;
  RED.nodes.eachNode((node) => {
    if (node.id === id && node.type === CLUSTER_TYPE) saved = node;
  });
  return saved;
}

/** The deployed credentials; those of a running node without `${NAME}`, as it uses them. */
function storedOf(RED: NodeAPI, id: string, node: ClusterNode | undefined): ClusterCredentials {
  const stored: unknown = node?.credentials ?? RED.nodes.getCredentials(id);
  return (stored as ClusterCredentials | undefined) ?? {};
}

/**
 * Decides what a test may use. Stored credentials are used only against the address, Sentinels and TLS that they were
 * deployed with. A `${NAME}`, or a TLS configuration with another address, is used only for users who may write flows.
 * @param typed the settings of the form, without the credentials that are stored
 * @param mayWriteFlows called only if the answer matters
 */
export async function testSettings(
  RED: NodeAPI,
  id: string | undefined,
  typed: SavedCluster,
  mayWriteFlows: () => Promise<boolean>,
): Promise<TestSettings> {
  const saved = findSaved(RED, id);
  const node = findCluster(RED, id);
  const isDeployed = saved !== undefined && isSameEndpoint(ENDPOINT, typed, saved, node?.endpoint);
  const stored = saved && id !== undefined ? storedOf(RED, id, node) : {};
  const given = typed.credentials ?? {};
  const untyped = CREDENTIALS.filter((key) => stored[key] && given[key] === undefined);
  const used = isDeployed ? Object.fromEntries(untyped.map((key) => [key, stored[key]])) : {};
  const settings: SavedCluster = { ...typed, credentials: { ...used, ...given } };

  const networks = !isDeployed && typed.tls ? ['tls'] : [];
  const variables = [
    ...(['url', 'sentinels', 'master', 'lease'] as const).filter((key) => hasVariable(typed[key])),
    ...CREDENTIALS.filter((key) => isVariable(given[key])),
  ];
  const refusalOf = async (): Promise<Refusal | undefined> => {
    const asksForMore = networks.length + variables.length > 0;
    if (asksForMore && !(await mayWriteFlows())) {
      return networks.length > 0
        ? { reason: 'network', settings: networks }
        : { reason: 'variable', settings: variables };
    }
    const retype = isDeployed ? [] : untyped;
    return retype.length > 0 ? { reason: 'retype', settings: retype } : undefined;
  };
  return { settings, node, isDeployed, refused: await refusalOf() };
}
