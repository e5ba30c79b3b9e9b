// What the tests of settings share that are not deployed yet: those of an application and of a cluster.
import { invalidInput } from '../../../src/input';
import { isObject } from '../values';

type Fields = Record<string, unknown>;

/** No setting is anywhere near as long. */
const LONGEST = 4096;

/** Reads the named fields, each text or a number. Errors name the field, never its value. */
function readFields(from: Fields, names: readonly string[]): Record<string, string> {
  const found = names.filter((name) => Object.hasOwn(from, name) && from[name] !== undefined);
  return Object.fromEntries(
    found.map((name) => {
      const value = from[name];
      if (typeof value !== 'string' && typeof value !== 'number') {
        throw invalidInput(`The setting ${name} must be a text or a number.`);
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

/** Why an interface is not tried; the editor puts it into the user's language. */
export interface Refusal {
  reason: 'retype' | 'variable' | 'network';
  /** Names of the settings concerned. */
  settings: string[];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/**
 * Whether settings name what a config node was deployed with: as it was saved, or as it is once Node-RED has replaced
 * each `${NAME}`.
 * @param used undefined if the node does not run
 */
export const isSameEndpoint = <K extends string>(
  keys: readonly K[],
  settings: Partial<Record<K, unknown>>,
  saved: Partial<Record<K, unknown>>,
  used: Partial<Record<K, unknown>> | undefined,
): boolean =>
  keys.every((key) => {
    const value = textOf(settings[key]);
    return value === textOf(saved[key]) || (used !== undefined && value === textOf(used[key]));
  });
