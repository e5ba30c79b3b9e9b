import { invalidInput } from '../../src/input';
import { isObject } from '../common/values';
import type { AppSettings } from './options';

/** What the editor sends to test an application: its settings as typed, and the node's id. */
export type TestRequest = AppSettings & { id?: string };

type Fields = Record<string, unknown>;

const SETTINGS = [
  ...['id', 'service', 'baseUrl', 'appid', 'timeout', 'heartbeat', 'ping', 'timestampUnit'],
  ...['connections', 'deviceGap', 'historyEncoding', 'historyZone', 'postParameters', 'signCase'],
  ...['tls', 'proxy'],
];
const CREDENTIALS = ['appkey', 'serverKey', 'serverPassword'];

/** No setting is anywhere near as long. */
const LONGEST = 4096;

/** Reads the named fields, each text or a number. Errors name the field, never its value. */
function readFields(from: Fields, names: readonly string[]): Record<string, string> {
  const found = names.filter((name) => Object.hasOwn(from, name) && from[name] !== undefined);
  return Object.fromEntries(
    found.map((name) => {
      const value = from[name];
      if (typeof value !== 'string' && typeof value !== 'number') {
        throw invalidInput(`The setting ${name} has to be a text or a number.`);
      }
      const text = String(value);
      if (text.length > LONGEST) {
        throw invalidInput(`The setting ${name} is longer than ${LONGEST} characters.`);
      }
      return [name, text];
    }),
  );
}

/**
 * Reads the settings of a config node as the editor sends them to be tried.
 * @param body as parsed by Node-RED, `undefined` if it is not JSON
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readSettings(
  body: unknown,
  settings: readonly string[],
  credentials: readonly string[],
): { fields: Record<string, string>; credentials: Record<string, string> } {
  if (!isObject(body)) {
    throw invalidInput(
      'Send the settings as a JSON object, with the header Content-Type: application/json.',
    );
  }
  const fields = readFields(body, settings);
  const given = body['credentials'] ?? {};
  if (!isObject(given)) throw invalidInput('The setting credentials has to be an object.');
  return { fields, credentials: readFields(given, credentials) };
}

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
