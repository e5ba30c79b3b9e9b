import type { Node, NodeAPI, NodeDef } from 'node-red';
import { DeviceCloudError, testCluster } from '../../src/for-nodes';
import { notConfigured } from '../../src/input';
import { auditedRoute, isSameEndpoint, readSettings, type Refusal } from '../common/admin';
import type { App } from '../common/app';
import { toProblem } from '../common/errors';
import type { Handlers } from '../common/register';
import { findNode, findSaved, hasVariable, storedCredentials } from '../common/settings';
import { APP_TYPE, isVariable } from '../common/shared.config';
import {
  CLUSTER_TYPE,
  type ClusterConfig,
  type ClusterCredentials,
  type ClusterTestResult,
} from './cluster.config';
import { ENDPOINT, engineOf, findCluster, type SavedCluster } from './cluster-node';

const CREDENTIALS = ['user', 'password'] as const;

/**
 * Decides what a test may use. Stored credentials are used only against the address, Sentinels and TLS that they were
 * deployed with. A `${NAME}`, or a TLS configuration with another address, is used only for users who may write flows.
 * @param typed the settings of the form, without the credentials that are stored
 * @param mayWriteFlows called only if the answer matters
 */
async function testSettings(
  RED: NodeAPI,
  id: string | undefined,
  typed: SavedCluster,
  mayWriteFlows: () => Promise<boolean>,
) {
  const saved = findSaved<ClusterConfig>(RED, id, CLUSTER_TYPE);
  const node = findCluster(RED, id);
  const isDeployed = saved !== undefined && isSameEndpoint(ENDPOINT, typed, saved, node?.endpoint);
  const stored = saved ? storedCredentials<ClusterCredentials>(RED, saved.id, node) : {};
  const given = typed.credentials ?? {};
  const untyped = CREDENTIALS.filter((key) => stored[key] && given[key] === undefined);
  const used = isDeployed ? Object.fromEntries(untyped.map((key) => [key, stored[key]])) : {};
  const settings: SavedCluster = { ...typed, credentials: { ...used, ...given } };

  const networks = !isDeployed && typed.tls ? ['tls'] : [];
  const variables = [
    ...(['url', 'sentinels', 'master', 'lease'] as const).filter((key) => hasVariable(typed[key])),
    ...CREDENTIALS.filter((key) => isVariable(given[key])),
  ];
  const isTrusted = networks.length + variables.length === 0 || (await mayWriteFlows());
  const refusals: Refusal[] = [
    { reason: 'network', settings: isTrusted ? [] : networks },
    { reason: 'variable', settings: isTrusted ? [] : variables },
    { reason: 'retype', settings: isDeployed ? [] : untyped },
  ];
  const refused = refusals.find(({ settings: named }) => named.length > 0);
  return { settings, node, isDeployed, refused };
}

/** Names no application: nothing is kept for this one. */
const NO_APPLICATION = 'test';

/** A refusal in English, for clients without a catalogue. */
const TEXTS: Readonly<Record<Refusal['reason'], (settings: string) => string>> = {
  retype: (settings) =>
    `Type ${settings} again: stored credentials are used only against the address, Sentinels and TLS ` +
    'that they were deployed with.',
  variable: (settings) =>
    `An environment variable is named by ${settings}. Variables are read only for users who may ` +
    'change flows: type the value itself.',
  network: () =>
    'A TLS configuration holds credentials of its own. Only users who may change flows may use it with another ' +
    'address than the deployed one.',
};

const failed = (error: unknown): ClusterTestResult => {
  const result = { ok: false, ...toProblem(error) };
  const missing = error instanceof DeviceCloudError ? error.missingPackage : undefined;
  return missing === undefined ? result : { ...result, missingPackage: missing };
};

function refusal({ reason, settings }: Refusal): ClusterTestResult {
  const error = notConfigured(TEXTS[reason](settings.join(', ')));
  return { ...failed(error), reason, settings };
}

/** A config node of an application as it was saved, as far as its cluster and its name matter. */
type SavedApp = NodeDef & { appid?: string; service?: string; cluster?: string };

/** The processes of the applications that share their devices in a cluster, as far as this one knows. */
function membersOf(RED: NodeAPI, id: string): NonNullable<ClusterTestResult['apps']> {
  const apps: NonNullable<ClusterTestResult['apps']> = [];
  RED.nodes.eachNode((saved: SavedApp) => {
    const app = saved.cluster === id ? findNode(RED, saved.id, APP_TYPE) : undefined;
    if (!app) return;
    const name = [saved.name, saved.appid, saved.service].find(Boolean) ?? saved.id;
    apps.push({ name, members: (app as App & Node).cluster()?.members ?? [] });
  });
  return apps;
}

/**
 * Tests the settings of a cluster as typed, before they are saved or deployed, without joining it.
 * @param mayWriteFlows whether the user may change flows
 */
async function testEngine(
  RED: NodeAPI,
  id: string | undefined,
  typed: SavedCluster,
  mayWriteFlows: () => Promise<boolean>,
): Promise<ClusterTestResult> {
  try {
    const tested = await testSettings(RED, id, typed, mayWriteFlows);
    const { settings, node, isDeployed, refused } = tested;
    if (refused) return refusal(refused);
    // Exactly where they were deployed for, whatever a `${NAME}` means by now.
    const exact = isDeployed && node ? { ...settings, ...node.endpoint } : settings;
    const engine = engineOf(RED, node, exact);
    const asked = Date.now();
    const info = await testCluster({ ...engine, application: NO_APPLICATION });
    const { product, version, persistence = 'unknown', eviction, time, forbidden } = info;
    return {
      ok: true,
      ...{ product, version, persistence },
      ...(eviction === undefined ? {} : { eviction }),
      // The answer was made at some time between.
      ...(Number.isNaN(time) ? {} : { clockSkew: skew(time, asked, Date.now()) }),
      ...(forbidden.length === 0 ? {} : { forbidden }),
      apps: isDeployed && id !== undefined ? membersOf(RED, id) : [],
    };
  } catch (error) {
    return failed(error);
  }
}

/** Seconds that a clock is ahead, as little as its answer allows: it was read at some time after it was asked for. */
function skew(time: number, asked: number, answered: number): number {
  if (time < asked) return (time - asked) / 1000;
  return time > answered ? (time - answered) / 1000 : 0;
}

const SETTINGS = ['id', 'url', 'sentinels', 'master', 'lease', 'tls'];

export const handlers = (RED: NodeAPI): Handlers<'test'> => ({
  test: auditedRoute(RED, {
    event: 'clusters.test',
    read: (body) => readSettings(body, SETTINGS, CREDENTIALS),
    audited: ({ fields: { id } }) => ({ id }),
    answer({ fields: { id, ...settings }, credentials }, mayWrite) {
      return testEngine(RED, id, { ...settings, credentials }, mayWrite);
    },
  }),
});
