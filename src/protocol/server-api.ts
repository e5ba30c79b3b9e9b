import { invalidInput } from '../errors';
import { readInput } from './values';
import type { JsonObject, Query } from '../types';
import { anyShape } from './open-api';
import { parseJson, JsonLimitError, isPlainObject } from '../util/json';
import { show } from '../util/show';
import { encodeQuery, signedServerApiRequest, toJson, type ServerApiIdentity } from './signing';
import type { Call, CallSpec } from './call-spec';

/** The longest query, in characters before it is encoded: it is part of the address. */
const MAX_QUERY = 65_536;

const DEVICEID = /^[A-Za-z0-9._~-]{1,64}$/;

/**
 * Reads a device id of the server API. Its form is not shown: any text that needs no encoding in a path
 * is accepted, since the signature covers the path.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parseDeviceid(value: unknown): string {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text === 'string' && DEVICEID.test(text) && !/^\.+$/.test(text)) return text;
  throw invalidInput(
    `The device id must be 1 to 64 letters, digits, "-", "_", "." or "~", but is ${show(value)}.`,
  );
}

/**
 * Reads query parameters given as an object.
 * @throws DeviceCloudError `INVALID_INPUT` if a value is neither text, number nor boolean
 */
export function parseQuery(value: unknown): Query {
  if (value === undefined || value === null || value === '') return {};
  const entries = readInput('query', () => (isPlainObject(value) ? Object.entries(value) : null));
  if (!entries) throw invalidInput(`The query must be a JSON object, but is ${show(value)}.`);
  let length = 0;
  for (const [name, item] of entries) {
    const fits =
      (typeof item === 'string' && item.isWellFormed()) ||
      typeof item === 'boolean' ||
      (typeof item === 'number' && Number.isFinite(item));
    if (!fits || !name.isWellFormed()) {
      throw invalidInput(
        `The query parameter ${show(name)} must be text, a number or a boolean, but is ${show(item)}.`,
      );
    }
    length += name.length + String(item).length;
  }
  if (length > MAX_QUERY) {
    throw invalidInput(`The query must have at most ${MAX_QUERY} characters, but has ${length}.`);
  }
  // A copy: a getter could return something else, or throw, when it is read again.
  return Object.fromEntries(entries) as Query;
}

/**
 * Reads the query of the uploads, which needs pagination (section 4.1). The names of its parameters are not shown.
 * @throws DeviceCloudError `INVALID_INPUT` if it has none
 */
export function parsePagination(value: unknown): Query {
  const query = parseQuery(value);
  if (Object.keys(query).length > 0) return query;
  throw invalidInput(
    'The query is empty, but the service requires pagination parameters to read uploaded data. Its document ' +
      "does not name them; the vendor's own client sends page and count.",
  );
}

/**
 * Makes the JSON of a request body. Its fields are not shown, so any object passes.
 * @throws DeviceCloudError `INVALID_INPUT` if it is no object or has no JSON
 */
export function parseBody(value: unknown): JsonObject {
  if (!readInput('body', () => isPlainObject(value))) {
    throw invalidInput(`The body must be a JSON object, but is ${show(value)}.`);
  }
  return value as JsonObject;
}

/**
 * Reads a success of the server API. A 200 "carries the result as JSON" (section 4.1), so that a page of a
 * portal is not taken for one; what other 2XX carry is not shown.
 * @throws SyntaxError if a 200 is not JSON
 */
function jsonOrText(body: Buffer, statusCode: number): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (statusCode === 200 || error instanceof JsonLimitError) throw error;
    return body.toString('utf8');
  }
}

export type ServerApi = ReturnType<typeof serverApi>;

/** The five calls of interface A (section 4.1), as specifications to be carried out. */
export function serverApi(identity: ServerApiIdentity) {
  const spec = (
    call: Omit<Call, 'api'>,
    method: 'GET' | 'PUT',
    path: string,
    query: Query = {},
    body?: JsonObject,
  ): CallSpec<unknown> => {
    const unsigned = {
      method,
      path: `/api/server/${path}`,
      query: encodeQuery(query),
      body: body === undefined ? undefined : toJson(body),
    };
    return {
      call: { ...call, api: 'server' },
      accepts: anyShape,
      succeeds: (statusCode) => statusCode >= 200 && statusCode < 300,
      decode: jsonOrText,
      unsigned,
      build: () => signedServerApiRequest(identity, unsigned),
    };
  };

  const read = (
    name: string,
    path: string,
    query: Query = {},
    ofDevice = false,
  ): CallSpec<unknown> => spec({ name, reach: 'cloud', ofDevice }, 'GET', path, query);
  const change = (name: string, deviceid: string, body: JsonObject): CallSpec<unknown> =>
    spec({ name, reach: 'command', ofDevice: true }, 'PUT', `devices/${deviceid}`, {}, body);

  return {
    devices: (query: Query) => read("Listing the server API's devices", 'devices', query),
    device: (deviceid: string) =>
      read(`Reading the record of device ${deviceid}`, `devices/${deviceid}`, {}, true),
    // Both are the same request: what distinguishes them is not shown (section 4.1).
    update: (deviceid: string, body: JsonObject) =>
      change(`Changing the record of device ${deviceid}`, deviceid, body),
    passthrough: (deviceid: string, body: JsonObject) =>
      change(`Sending data to device ${deviceid}`, deviceid, body),
    uploads: (query: Query) => read("Reading the server API's uploads", 'up/messages', query),
  };
}
