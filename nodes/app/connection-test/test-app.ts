import type { NodeAPI } from 'node-red';
import {
  DeviceCloudClient,
  DeviceCloudError,
  type Explanation,
  type KeyWarning,
} from '../../../src/index';
import { keyWarnings } from '../../../src/input';
import { toProblem } from '../../common/admin/problem';
import type { Refusal } from '../../common/admin/settings-test';
import { toChoices, type DeviceChoice } from '../fleet/device-choices';
import type { Api } from '../../common/app';
import { DEFAULT_ZONE } from '../../common/app-type';
import { zoneOf } from '../app.config';
import { clientOptions } from '../connection/options';
import { helpWith } from './refused-key';
import { useSimulator, type SharedSimulator } from '../connection/shared-simulator';
import type { TestRequest } from './test-request';
import { refusalText, testSettings, type TestSettings } from './test-settings';

/** What the test of an application found; `null` for an interface whose keys were not given. */
export interface TestResult {
  openApi: ApiResult | null;
  serverApi: ApiResult | null;
  /** The online devices, for the device picker before the first deploy. */
  devices?: DeviceChoice[];
}

export interface ApiResult {
  ok: boolean;
  code?: string;
  message?: string;
  /** Why it was not tried, and the settings concerned. */
  reason?: Refusal['reason'];
  settings?: string[];
  /** Of a key that does not work: what looks wrong about it. */
  warnings?: KeyWarning[];
  /** Of a refused request: what was sent. Its warnings are those that are not about keys. */
  explanation?: Explanation;
  /** The application's name. */
  name?: string;
  /** How many devices are online. */
  online?: number;
  /** Seconds that the service's clock is ahead of this machine's. */
  clockSkew?: number;
}

const skewOf = (client: DeviceCloudClient): { clockSkew?: number } => {
  const clockSkew = client.clockSkew;
  return clockSkew === undefined ? {} : { clockSkew };
};

async function testOpenApi(client: DeviceCloudClient, zone: string, timeout: number) {
  try {
    const { body } = await client.app({ timeout });
    const result = { ok: true, name: body.name, online: body.online.length, ...skewOf(client) };
    return { result, devices: toChoices(body.online, zone, client) };
  } catch (error) {
    const help = helpWith(error, () => client.explain('app'));
    return { result: { ...failed(error), ...skewOf(client), ...help }, devices: [] };
  }
}

/** The result is JSON (section 4.1); a portal that answers in the service's place sends text. */
const isResult = (body: unknown): boolean => typeof body === 'object' && body !== null;

const notAList = (): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    "Listing the server API's devices was answered with success, but not with a list in JSON. " +
      "Check that the address is the service's, and no proxy or portal answers in its place.",
  );

const failed = (error: unknown): ApiResult => ({ ok: false, ...toProblem(error) });

async function testServerApi(client: DeviceCloudClient, timeout: number): Promise<ApiResult> {
  const query = { page: 1, count: 1 };
  try {
    const { body } = await client.serverDevices(query, { timeout });
    return { ...(isResult(body) ? { ok: true } : failed(notAList())), ...skewOf(client) };
  } catch (error) {
    const help = helpWith(error, () => client.explain('serverDevices', query));
    return { ...failed(error), ...skewOf(client), ...help };
  }
}

const missing = (): ApiResult =>
  failed(
    new DeviceCloudError(
      'NOT_CONFIGURED',
      'Fill in the appid and the app key, or the key and the password of the server API.',
    ),
  );

const refusalResult = (refusal: Refusal): ApiResult => ({
  ...failed(new DeviceCloudError('NOT_CONFIGURED', refusalText(refusal))),
  ...refusal,
});

/** Tries the interfaces whose keys are given. */
async function testClient(
  client: DeviceCloudClient,
  has: Readonly<Record<Api, boolean>>,
  zone: string,
  timeout: number,
): Promise<TestResult> {
  const [open, serverApi] = await Promise.all([
    has.open ? testOpenApi(client, zone, timeout) : undefined,
    has.server ? testServerApi(client, timeout) : undefined,
  ]);
  const result = { openApi: open?.result ?? null, serverApi: serverApi ?? null };
  return open ? { ...result, devices: open.devices } : result;
}

async function testSimulator(shared: SharedSimulator, timeout: number): Promise<TestResult> {
  const use = useSimulator(shared);
  try {
    const { baseUrl, appid, appkey, serverKey, serverPassword } = await use.ready;
    const options = { baseUrl, appid, appkey, serverKey, serverPassword, proxy: false as const };
    const client = new DeviceCloudClient(options);
    try {
      return await testClient(client, { open: true, server: true }, DEFAULT_ZONE, timeout);
    } finally {
      await client.close();
    }
  } finally {
    await use.leave();
  }
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
    const open = !!options.appid && !!options.appkey;
    const server = !!options.serverKey && !!options.serverPassword;
    const result = await testClient(client, { open, server }, zoneOf(settings), timeout);
    if (unset.open) result.openApi = failed(unset.open);
    if (unset.server) result.serverApi = failed(unset.server);
    return result;
  } finally {
    await client.close();
  }
}

/** The context of a test besides the settings. */
interface TestDeps {
  simulator: SharedSimulator;
  /** Whether the user may change flows. */
  mayWriteFlows: () => Promise<boolean>;
  /** Seconds for each call. */
  timeout: number;
}

/** Tests the settings of an application as typed, before they are saved or deployed. */
export async function testApp(
  RED: NodeAPI,
  request: TestRequest,
  { simulator, mayWriteFlows, timeout }: TestDeps,
): Promise<TestResult> {
  if (request.service === 'simulator') return testSimulator(simulator, timeout);
  try {
    const allowed = await testSettings(RED, request, mayWriteFlows);
    const { refused, wanted } = allowed;
    const result = await testCloud(RED, allowed, timeout);
    if (refused.open && wanted.open) result.openApi = refusalResult(refused.open);
    if (refused.server && wanted.server) result.serverApi = refusalResult(refused.server);
    if (!result.openApi && !result.serverApi) result.openApi = missing();
    return result;
  } catch (error) {
    return { openApi: failed(error), serverApi: null };
  }
}
