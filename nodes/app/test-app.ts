import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudClient } from '../../src/client';
import { DeviceCloudError } from '../../src/errors';
import { toChoice, toProblem, type DeviceChoice } from './admin';
import type { AppCredentials } from './app.config';
import { clientOptions } from './options';
import { useSimulator } from './shared-simulator';
import type { TestRequest } from './test-request';

/** What the test of an application found; `null` for a face whose keys were not given. */
export interface TestResult {
  openApi: FaceResult | null;
  serverApi: FaceResult | null;
  /** The online devices, for the device picker before the first deploy. */
  devices?: DeviceChoice[];
}

export interface FaceResult {
  ok: boolean;
  code?: string;
  message?: string;
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

async function testOpenApi(client: DeviceCloudClient, timeout: number) {
  try {
    const { body } = await client.app({ timeout });
    const result = { ok: true, name: body.name, online: body.online.length, ...skewOf(client) };
    return { result, devices: body.online.map(toChoice) };
  } catch (error) {
    return { result: { ok: false, ...toProblem(error), ...skewOf(client) }, devices: [] };
  }
}

async function testServerApi(client: DeviceCloudClient, timeout: number): Promise<FaceResult> {
  try {
    await client.serverDevices({ page: 1, count: 1 }, { timeout });
    return { ok: true, ...skewOf(client) };
  } catch (error) {
    return { ok: false, ...toProblem(error), ...skewOf(client) };
  }
}

const failed = (error: unknown): FaceResult => ({ ok: false, ...toProblem(error) });

const missing = (): FaceResult =>
  failed(
    new DeviceCloudError(
      'NOT_CONFIGURED',
      'Fill in the appid and the app key, or the key and the password of the server API.',
    ),
  );

async function testClient(
  client: DeviceCloudClient,
  faces: Faces,
  timeout: number,
): Promise<TestResult> {
  const [open, serverApi] = await Promise.all([
    faces.open ? testOpenApi(client, timeout) : undefined,
    faces.server ? testServerApi(client, timeout) : undefined,
  ]);
  if (!open) return { openApi: serverApi ? null : missing(), serverApi: serverApi ?? null };
  return { openApi: open.result, serverApi: serverApi ?? null, devices: open.devices };
}

interface Faces {
  open: boolean;
  server: boolean;
}

/** Credentials as typed; one that was left as it is comes from where it is stored, not from the browser. */
function credentialsOf(RED: NodeAPI, settings: TestRequest): AppCredentials {
  const stored = settings.id
    ? (RED.nodes.getCredentials(settings.id) as AppCredentials | undefined)
    : undefined;
  return { ...stored, ...settings.credentials };
}

async function testSimulator(timeout: number): Promise<TestResult> {
  const use = useSimulator();
  try {
    const { baseUrl, appid, appkey, serverKey, serverPassword } = await use.ready;
    const options = { baseUrl, appid, appkey, serverKey, serverPassword, proxy: false as const };
    const client = new DeviceCloudClient(options);
    try {
      return await testClient(client, { open: true, server: true }, timeout);
    } finally {
      await client.close();
    }
  } finally {
    await use.leave();
  }
}

/**
 * Tries the settings of an application as they were typed, before they are saved or deployed.
 * @param timeout seconds for each call
 */
export async function testApp(
  RED: NodeAPI,
  settings: TestRequest,
  timeout: number,
): Promise<TestResult> {
  if (settings.service === 'simulator') return testSimulator(timeout);
  try {
    const credentials = credentialsOf(RED, settings);
    const deployed = settings.id ? (RED.nodes.getNode(settings.id) as Node | null) : null;
    const typed = { ...settings, credentials };
    const { options, unset } = clientOptions(RED, deployed ?? undefined, typed);
    const client = new DeviceCloudClient(options);
    try {
      const open = !!options.appid && !!options.appkey;
      const server = !!options.serverKey && !!options.serverPassword;
      const result = await testClient(client, { open, server }, timeout);
      if (unset.open) result.openApi = failed(unset.open);
      if (unset.server) result.serverApi = failed(unset.server);
      return result;
    } finally {
      await client.close();
    }
  } catch (error) {
    return { openApi: failed(error), serverApi: null };
  }
}
