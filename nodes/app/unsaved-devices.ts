import type { NodeAPI } from 'node-red';
import { DeviceCloudClient, type ClientOptions } from '../../src/for-nodes';
import { notConfigured } from '../../src/input';
import { toChoices } from './answers';
import type { DeviceChoice } from './answers.config';
import { clientOptions } from './options';
import { useSimulator, type SharedSimulator } from './simulator';
import { refusalText, testSettings, type TestRequest } from './test-settings';

async function listed(options: ClientOptions, timeout: number): Promise<DeviceChoice[]> {
  await using client = new DeviceCloudClient(options);
  const { body } = await client.devices({ timeout });
  return toChoices(body, client);
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
): Promise<DeviceChoice[]> {
  if (request.service === 'simulator') {
    const use = useSimulator(simulator);
    try {
      const { baseUrl, appid, appkey } = await use.ready;
      return await listed({ baseUrl, appid, appkey, proxy: false }, timeout);
    } finally {
      await use.leave();
    }
  }
  const { settings, node, refused } = await testSettings(RED, request, mayWriteFlows);
  if (refused.open) throw notConfigured(refusalText(refused.open));
  const { options, unset } = clientOptions(RED, node, settings);
  if (unset.open) throw unset.open;
  return listed(options, timeout);
}
