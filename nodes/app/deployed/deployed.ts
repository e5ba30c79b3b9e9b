import type { NodeAPI, NodeDef } from 'node-red';
import { isSameEndpoint } from '../../common/admin/settings-test';
import { APP_TYPE } from '../../common/app-type';
import type { AppConfig, AppCredentials } from '../app.config';
import { findAppNode, type AppNode, type Endpoint } from '../app-node';

const ENDPOINT = ['baseUrl', 'tls', 'proxy'] as const;

/** A deployed config node, disabled or not. */
export interface DeployedApp {
  /** As it was saved, with each `${NAME}` in it. */
  saved: NodeDef & Partial<AppConfig>;
  /** The running node; a disabled one, or one in a subflow's template, does not run. */
  node: AppNode | undefined;
}

/** Finds the deployed config node of an id. Undefined for an id of anything else. */
export function findDeployed(RED: NodeAPI, id: string | undefined): DeployedApp | undefined {
  let saved: (NodeDef & Partial<AppConfig>) | undefined;
  RED.nodes.eachNode((node) => {
    if (node.id === id && node.type === APP_TYPE) saved = node;
  });
  if (!saved) return undefined;
  return { saved, node: findAppNode(RED, saved.id) };
}

/** The same of an application's address, TLS and proxy. */
export const isDeployedEndpoint = (
  settings: Partial<Endpoint>,
  { saved, node }: DeployedApp,
): boolean => isSameEndpoint(ENDPOINT, settings, saved, node?.endpoint);

/** The deployed credentials; those of a running node without `${NAME}`, as it uses them. */
export function deployedCredentials(RED: NodeAPI, { saved, node }: DeployedApp): AppCredentials {
  const stored: unknown = node?.credentials ?? RED.nodes.getCredentials(saved.id);
  return (stored as AppCredentials | undefined) ?? {};
}
