import type { NodeAPI, NodeDef } from 'node-red';
import { DeviceCloudError, testCluster } from '../../src/index';
import { toProblem } from '../common/admin/problem';
import type { Refusal } from '../common/admin/settings-test';
import { findRunningApp } from '../common/app';
import { APP_TYPE } from '../common/app-type';
import { engineOf, type SavedCluster } from './cluster-options';
import type { ClusterTestResult } from './test-result';
import { testSettings } from './test-settings';

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
  const error = new DeviceCloudError('NOT_CONFIGURED', TEXTS[reason](settings.join(', ')));
  return { ...failed(error), reason, settings };
}

/** A config node of an application as it was saved, as far as its cluster and its name matter. */
type SavedApp = NodeDef & { appid?: string; service?: string; cluster?: string };

/** The processes of the applications that share their devices in a cluster, as far as this one knows. */
function membersOf(RED: NodeAPI, id: string): NonNullable<ClusterTestResult['apps']> {
  const apps: NonNullable<ClusterTestResult['apps']> = [];
  RED.nodes.eachNode((saved: SavedApp) => {
    const app =
      saved.type === APP_TYPE && saved.cluster === id ? findRunningApp(RED, saved.id) : undefined;
    if (!app) return;
    const name = [saved.name, saved.appid, saved.service].find(Boolean) ?? saved.id;
    apps.push({ name, members: app.cluster()?.members ?? [] });
  });
  return apps;
}

/**
 * Tests the settings of a cluster as typed, before they are saved or deployed, without joining it.
 * @param mayWriteFlows whether the user may change flows
 */
export async function testEngine(
  RED: NodeAPI,
  id: string | undefined,
  typed: SavedCluster,
  mayWriteFlows: () => Promise<boolean>,
): Promise<ClusterTestResult> {
  try {
    const { settings, node, isDeployed, refused } = await testSettings(
      ...([RED, id, typed, mayWriteFlows] as const),
    );
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
