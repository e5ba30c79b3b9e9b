import { DeviceCloudClient } from '../../../src/client';
import type { ClientOptions } from '../../../src/settings';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../src/simulator';
import { currentDialect, PUBLIC_DIALECT } from '../../tooling/dialect';
import { atEnd } from '../../tooling/servers/at-end';

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
