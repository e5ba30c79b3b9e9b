import type { NodeAPI } from 'node-red';
import {
  DeviceCloudClient,
  DeviceCloudError,
  signedAppText,
  signedServerText,
  type ClientOptions,
} from '../../src/for-nodes';
import { keyWarnings, notConfigured } from '../../src/input';
import type { Api } from '../common/app';
import { toProblem } from '../common/errors';
import { toChoices } from './answers';
import type { ApiResult, Dialect, TestResult } from './answers.config';
import {
  deployedCredentials,
  findDeployed,
  runningApps,
  serviceOf,
  type AppNode,
} from './deployed';
import { clientOptions, interfacesOf } from './options';
import { helpWith } from './refused';
import { useSimulator, type SharedSimulator, type Simulator } from './simulator';
import { testChannel } from './test-channel';
import {
  refusalText,
  testSettings,
  type TestRequest,
  type TestSettings,
  type Refusal,
} from './test-settings';

/** What is tried. */
interface Tested {
  client: DeviceCloudClient;
  options: ClientOptions;
  deployed: AppNode | undefined;
  /** Milliseconds for each call. */
  timeout: number;
}

/** Of an address that the client has accepted. */
const originOf = ({ baseUrl }: ClientOptions): string => new URL(baseUrl).origin;

/** In seconds, as the editor shows it. */
const skewOf = ({ clockSkew }: DeviceCloudClient): { clockSkew?: number } =>
  clockSkew === undefined ? {} : { clockSkew: clockSkew / 1000 };

/** Which address the list has; undefined if neither answers. */
async function dialectOf(client: DeviceCloudClient, timeout: number): Promise<Dialect | undefined> {
  await client.devices({ timeout }).catch(() => undefined);
  const { listPath } = client;
  if (listPath === undefined) return undefined;
  return listPath === 'devices/list/' ? 'document' : 'public';
}

/** Whether the open API accepts another app key. */
async function accepts(options: ClientOptions, appkey: string, timeout: number): Promise<boolean> {
  await using client = new DeviceCloudClient({ ...options, appkey });
  return await client.app({ timeout }).then(
    () => true,
    () => false,
  );
}

async function testOpenApi({ client, options, timeout }: Tested) {
  try {
    const { body } = await client.app({ timeout });
    const dialect = await dialectOf(client, timeout);
    const result: ApiResult = {
      ...{ ok: true, name: body.name, online: body.online.length, ...skewOf(client) },
      ...(dialect && { dialect }),
    };
    return { result, devices: toChoices(body.online, client) };
  } catch (error) {
    const help = await helpWith(error, {
      api: 'open',
      options,
      signing: signedAppText(originOf(options), client.appid ?? '', Date.now()),
      warnings: keyWarnings({ appid: options.appid, appkey: options.appkey }),
      clockSkew: skewOf(client).clockSkew,
      accepts: (appkey) => accepts(options, appkey, timeout),
    });
    return { result: { ...failed(error), ...skewOf(client), ...help }, devices: undefined };
  }
}

const notAList = (): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    "Listing the server API's devices was answered with success, but not with a list in JSON. " +
      "Check that the address is the service's, and no proxy or portal answers in its place.",
  );

const failed = (error: unknown): ApiResult => ({ ok: false, ...toProblem(error) });

async function testServerApi({ client, options, timeout }: Tested): Promise<ApiResult> {
  const query = { page: 1, count: 1 };
  try {
    const { body } = await client.serverDevices(query, { timeout });
    // The result is JSON (section 4.1); a portal that answers in the service's place sends text.
    const isResult = typeof body === 'object' && body !== null;
    const portal = { ...failed(notAList()), problem: 'not-a-cloud' as const };
    return { ...(isResult ? { ok: true } : portal), ...skewOf(client) };
  } catch (error) {
    const { serverKey, serverPassword } = options;
    const help = await helpWith(error, {
      api: 'server',
      options,
      signing: signedServerText(originOf(options), Date.now()),
      warnings: keyWarnings({ serverKey, serverPassword }),
      clockSkew: skewOf(client).clockSkew,
    });
    return { ...failed(error), ...skewOf(client), ...help };
  }
}

const missing = (): DeviceCloudError =>
  notConfigured(
    'Fill in the appid and the app key, or the key and the password of the server API.',
  );

const refusalResult = (refusal: Refusal | undefined): ApiResult | undefined =>
  refusal && { ...failed(notConfigured(refusalText(refusal))), ...refusal };

/** Tries the interfaces whose keys are given, and then the channel. */
async function testClient(
  RED: NodeAPI,
  tested: Tested,
  has: Readonly<Record<Api, boolean>>,
): Promise<TestResult> {
  const { client, deployed, timeout } = tested;
  const [open, serverApi] = await Promise.all([
    has.open ? testOpenApi(tested) : undefined,
    has.server ? testServerApi(tested) : undefined,
  ]);
  const result = { openApi: open?.result ?? null, serverApi: serverApi ?? null };
  if (!open?.devices) return open ? { ...result, devices: [] } : result;
  const { devices } = open;
  const online = devices.map(({ chipid }) => chipid).filter((chipid) => /^\d{1,20}$/.test(chipid));
  const channel = await testChannel(RED, client, deployed, online, timeout);
  return { ...result, channel, devices };
}

/** Tries a simulator of this process. @param deployed the node that uses it */
async function testLocal(
  RED: NodeAPI,
  { baseUrl, appid, appkey, serverKey, serverPassword }: Simulator,
  deployed: AppNode | undefined,
  timeout: number,
): Promise<TestResult> {
  const options = { baseUrl, appid, appkey, serverKey, serverPassword, proxy: false as const };
  await using client = new DeviceCloudClient(options);
  const tested = { client, options, deployed, timeout };
  return await testClient(RED, tested, { open: true, server: true });
}

async function testSimulator(
  RED: NodeAPI,
  shared: SharedSimulator,
  timeout: number,
): Promise<TestResult> {
  const use = useSimulator(shared);
  try {
    // Whatever they are set to otherwise, all have the same simulator.
    const deployed = runningApps(RED).find(({ saved }) => serviceOf(saved) === 'simulator')?.node;
    return await testLocal(RED, await use.ready, deployed, timeout);
  } finally {
    await use.leave();
  }
}

/** Whether the channel has the address and the keys of the node as deployed. */
function isDeployed(RED: NodeAPI, node: AppNode | undefined, tried: ClientOptions): boolean {
  const found = node && findDeployed(RED, node.id);
  if (!found) return false;
  const credentials = deployedCredentials(RED, found);
  const { options } = clientOptions(RED, node, { ...found.saved, ...node.endpoint, credentials });
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
    return { openApi: { ...failed(error), warnings: keyWarnings(options) }, serverApi: null };
  }
  try {
    const deployed = isDeployed(RED, node, options) ? node : undefined;
    const tested = { client, options, deployed, timeout };
    const result = await testClient(RED, tested, interfacesOf(options));
    if (unset.open) result.openApi = failed(unset.open);
    if (unset.server) result.serverApi = failed(unset.server);
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
  if (request.service === 'simulator') return testSimulator(RED, simulator, timeout);
  try {
    const allowed = await testSettings(RED, request, mayWriteFlows);
    const { refused, wanted } = allowed;
    const result = await testCloud(RED, allowed, timeout);
    if (wanted.open) result.openApi = refusalResult(refused.open) ?? result.openApi;
    if (wanted.server) result.serverApi = refusalResult(refused.server) ?? result.serverApi;
    if (!result.openApi && !result.serverApi) result.openApi = failed(missing());
    return result;
  } catch (error) {
    return { openApi: failed(error), serverApi: null };
  }
}
