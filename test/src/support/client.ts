import { DeviceCloudClient } from '../../../src/client';
import type { ClientOptions } from '../../../src/settings';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../src/simulator';
import { currentDialect, PUBLIC_DIALECT } from '../../tooling/dialect';
import { atEnd } from '../../tooling/servers/at-end';
import { httpService, type HttpService, type Script } from '../../tooling/servers/http-service';

/** The keys of every client in these tests. Mixed case shows a sign that lowercases wrongly. */
export const KEYS = {
  appid: '10001',
  appkey: 'Key-Of-The-App/42',
  serverKey: 'Key-Of-The-Product',
  serverPassword: 'PassWord-Of-The-Product',
} as const;

/** The public server takes a key in lower case: row 1b of docs/known-service.md. */
export const keysOf = (dialect = currentDialect()): Readonly<Record<keyof typeof KEYS, string>> =>
  dialect === PUBLIC_DIALECT ? { ...KEYS, appkey: KEYS.appkey.toLowerCase() } : KEYS;

/** A client with all keys, no proxy, and no pauses between attempts. */
export function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}): DeviceCloudClient {
  const client = new DeviceCloudClient({
    baseUrl,
    ...keysOf(),
    proxy: false,
    random: () => 0,
    ...options,
  });
  atEnd(() => client.close());
  return client;
}

/** A simulator with the same keys, whose devices say nothing of themselves and answer at once. */
export async function simulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const started = await startSimulator({
    ...KEYS,
    ...{ interval: 0, answerDelay: 0, dialect: currentDialect() },
    ...options,
  });
  atEnd(() => started.close());
  return started;
}

type Started<Service> = Promise<{ service: Service; client: DeviceCloudClient }>;

/** A service that answers as a script says, and a client of it. */
export async function serving(
  script: Script,
  options?: Partial<ClientOptions>,
): Started<HttpService> {
  const service = await httpService(script);
  return { service, client: clientOf(service.baseUrl, options) };
}

/** A simulator, and a client of it. */
export async function simulated(
  options?: SimulatorOptions,
  clientOptions?: Partial<ClientOptions>,
): Started<Simulator> {
  const service = await simulator(options);
  return { service, client: clientOf(service.baseUrl, clientOptions) };
}
