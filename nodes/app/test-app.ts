import type { NodeAPI } from 'node-red';
import {
  type ClientOptions,
  DeviceCloudClient,
  type DeviceCloudError,
  failedTest,
  type Fleet,
  keyWarnings,
  notConfigured,
  openChannels,
} from '../../src/index';
import { toChoices } from './answers';
import type { ApiResult, DeviceChoice, Refusal, TestResult } from './answers.config';
import { deployedCredentials, findDeployed, runningApps, type AppNode } from './deployed';
import { clientOptions } from './options';
import { optionsOf, withSimulator, type SharedSimulator } from './simulator';
import { refusalText, testSettings, type TestRequest, type TestSettings } from './test-settings';

const missing = (): DeviceCloudError =>
  notConfigured(
    'Fill in the appid and the app key, or the key and the password of the server API.',
  );

const refusalResult = (refusal: Refusal | undefined): ApiResult | undefined =>
  refusal && { ...failedTest(notConfigured(refusalText(refusal))), ...refusal };

const originOf = (baseUrl: string | undefined): string =>
  URL.canParse(baseUrl ?? '') ? new URL(baseUrl ?? '').origin : '';

/** The devices whose channels are open at a service, of all applications: two of them may be the same one there. */
const openAt = (baseUrl: string): string[] =>
  runningApps()
    .filter(({ app }) => originOf(app.config.baseUrl) === originOf(baseUrl))
    .flatMap(({ app }) => [...openChannels(app.fleet).keys()]);

/** Tries the interfaces whose keys are given, and then the channel. */
async function testClient(
  client: DeviceCloudClient,
  baseUrl: string,
  deployed: AppNode | undefined,
  timeout: number,
): Promise<TestResult> {
  // The records of devices have keys in them.
  const { devices: _, ...result } = await client.test({
    timeout,
    channels: openChannels(deployed?.app.fleet),
    used: new Set(openAt(baseUrl)),
  });
  return result;
}

/** Tries the simulator of this process, which all applications share, whatever they are set to otherwise. */
const testSimulator = (shared: SharedSimulator, timeout: number): Promise<TestResult> =>
  withSimulator(shared, async (simulator) => {
    const deployed = runningApps().find(({ app }) => app.isSimulated);
    await using client = new DeviceCloudClient(optionsOf(simulator));
    return await testClient(client, simulator.baseUrl, deployed, timeout);
  });

/** Whether the channel has the address and the keys of the node as deployed. */
function isDeployed(RED: NodeAPI, node: AppNode | undefined, tried: ClientOptions): boolean {
  const found = node && findDeployed(RED, node.id);
  if (!found) return false;
  const credentials = deployedCredentials(RED, found);
  const { options } = clientOptions(RED, node, { ...node.app.config, ...credentials });
  return (['baseUrl', 'appid', 'appkey'] as const).every((name) => options[name] === tried[name]);
}

async function testCloud(
  RED: NodeAPI,
  { settings, node, refused }: TestSettings,
  timeout: number,
): Promise<TestResult> {
  if (refused.open && refused.server) return { openApi: null, serverApi: null };
  const { options, unset } = clientOptions(RED, node, settings);
  let client: DeviceCloudClient;
  try {
    client = new DeviceCloudClient(options);
  } catch (error) {
    return { openApi: { ...failedTest(error), warnings: keyWarnings(options) }, serverApi: null };
  }
  try {
    const deployed = isDeployed(RED, node, options) ? node : undefined;
    const result: TestResult = await testClient(client, options.baseUrl, deployed, timeout);
    if (unset.open) result.openApi = failedTest(unset.open);
    if (unset.server) result.serverApi = failedTest(unset.server);
    return result;
  } finally {
    await client.close();
  }
}

/**
 * Tests the settings of an application as typed, before they are saved or deployed.
 * @param mayWriteFlows whether the user may change flows
 * @param timeout milliseconds for each call
 */
export async function testApp(
  RED: NodeAPI,
  simulator: SharedSimulator,
  request: TestRequest,
  mayWriteFlows: () => Promise<boolean>,
  timeout: number,
): Promise<TestResult> {
  if (request.service === 'simulator') return testSimulator(simulator, timeout);
  try {
    const allowed = await testSettings(RED, request, mayWriteFlows);
    const { refused, wanted } = allowed;
    const result = await testCloud(RED, allowed, timeout);
    if (wanted.open) result.openApi = refusalResult(refused.open) ?? result.openApi;
    if (wanted.server) result.serverApi = refusalResult(refused.server) ?? result.serverApi;
    if (!result.openApi && !result.serverApi) result.openApi = failedTest(missing());
    return result;
  } catch (error) {
    return { openApi: failedTest(error), serverApi: null };
  }
}

/** Lists the online devices. Names of the book come first, as everywhere. */
export async function listOf(client: DeviceCloudClient, timeout: number): Promise<DeviceChoice[]> {
  const { body } = await client.devices({ timeout });
  const nameOf = ({ chipid, name }: DeviceChoice) => client.fleet.name(chipid) ?? name;
  return toChoices(body, client).map((choice) => ({ ...choice, name: nameOf(choice) }));
}

async function listed(options: ClientOptions, timeout: number): Promise<UnsavedDevices> {
  await using client = new DeviceCloudClient(options);
  return { devices: await listOf(client, timeout) };
}

/** The online devices, and what else is known of devices where the settings are those that are deployed. */
interface UnsavedDevices {
  devices: DeviceChoice[];
  fleet?: Fleet | undefined;
}

/**
 * Lists the online devices of an application with settings that need not be deployed.
 * @param mayWriteFlows whether the user may change flows
 * @param timeout milliseconds for the call
 * @throws DeviceCloudError
 */
export async function unsavedDevices(
  RED: NodeAPI,
  simulator: SharedSimulator,
  request: TestRequest,
  mayWriteFlows: () => Promise<boolean>,
  timeout: number,
): Promise<UnsavedDevices> {
  if (request.service === 'simulator')
    return withSimulator(simulator, (started) => listed(optionsOf(started), timeout));
  const { settings, node, refused } = await testSettings(RED, request, mayWriteFlows);
  if (refused.open) throw notConfigured(refusalText(refused.open));
  const { options, unset } = clientOptions(RED, node, settings);
  if (unset.open) throw unset.open;
  if (!node || !isDeployed(RED, node, options)) return listed(options, timeout);
  const devices = await node.app.borrow('open', (client) => listOf(client, timeout));
  return { devices, fleet: node.app.fleet };
}
