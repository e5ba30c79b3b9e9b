import { invalidInput } from '../../../src/input';
import { readSettings } from '../../common/admin/settings-test';
import type { AppSettings } from '../connection/options';

/** What the editor sends to test an application: its settings as typed, and the node's id. */
export type TestRequest = AppSettings & { id?: string };

const SETTINGS = [
  ...['id', 'service', 'baseUrl', 'appid', 'timeout', 'heartbeat', 'ping', 'timestampUnit'],
  ...['connections', 'deviceGap', 'historyEncoding', 'historyZone', 'charset'],
  ...['postParameters', 'signCase'],
  ...['tls', 'proxy'],
];
const CREDENTIALS = ['appkey', 'serverKey', 'serverPassword'];

/**
 * Reads the body of a request for a test, which may come from anyone who is logged in.
 * @param body as parsed by Node-RED, `undefined` if it is not JSON
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readTestRequest(body: unknown): TestRequest {
  const { credentials, fields } = readSettings(body, SETTINGS, CREDENTIALS);
  const { service, ...settings } = fields;
  if (service !== undefined && service !== 'cloud' && service !== 'simulator') {
    throw invalidInput('The setting service has to be "cloud" or "simulator".');
  }
  return {
    ...(settings as Partial<TestRequest>),
    ...(service === undefined ? {} : { service }),
    credentials,
  };
}
