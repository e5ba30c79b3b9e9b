import { invalidInput } from '../errors';
import type { HttpRequest } from '../http/exchange';
import { checkLength } from '../input/push-payload';
import { readInput } from '../input/values';
import type { JsonObject } from '../types';
import { signOpenApi, signServerApi, type Params, type SignCase } from './signing';

/** What needs no encoding; the test takes less time than the encoding. */
const PLAIN = /^[\w.~-]*$/;

const encode = (value: string | number | boolean): string =>
  typeof value === 'string' && PLAIN.test(value) ? value : encodeURIComponent(value);

/** Writes parameters as a URL query, which is also the body of a form: percent-encoded, ASCII only. */
export function encodeQuery(params: Readonly<Record<string, string | number | boolean>>): string {
  let text = '';
  for (const name of Object.keys(params)) {
    text += `${text === '' ? '' : '&'}${encode(name)}=${encode(params[name] as string)}`;
  }
  return text;
}

/** The caller of the open API: the application and its key (section 5.2). */
export interface OpenApiIdentity {
  appid: string;
  appkey: string;
  userAgent: string;
  /** How signatures lowercase, and where a POST carries its parameters. */
  signCase: SignCase;
  postParameters: 'body' | 'query';
  /** Milliseconds since 1970, as of Date.now. */
  now: () => number;
}

/** A request of the open API before it is signed. */
export interface UnsignedOpenApiRequest {
  method: 'GET' | 'POST';
  /** Relative to `/openapi/`, with the final `/`. */
  path: string;
  /** Without the common ones. */
  params: Params;
}

/**
 * Signs a request of the open API now. The common parameters are in the query; further ones are
 * there, too, or in the form-encoded body of a POST (section 4.2, rules 2 and 3).
 */
export function signedOpenApiRequest(
  identity: OpenApiIdentity,
  { method, path, params }: UnsignedOpenApiRequest,
): HttpRequest {
  const { appid, appkey, signCase, postParameters } = identity;
  const timestamp = String(Math.floor(identity.now() / 1000));
  const sign = signOpenApi(method, { timestamp, ...params, appid }, appkey, signCase);
  const query = `appid=${appid}&timestamp=${timestamp}&sign=${sign}`;
  const further = encodeQuery(params);
  const headers: Record<string, string> = { 'user-agent': identity.userAgent };
  if (method === 'POST' && postParameters === 'body') {
    headers['content-type'] = 'application/x-www-form-urlencoded';
    return { method, path: `/openapi/${path}?${query}`, headers, body: further };
  }
  const all = further === '' ? query : `${query}&${further}`;
  return { method, path: `/openapi/${path}?${all}`, headers };
}

/** The caller of the server API: the product key and its password (section 5.1). */
export interface ServerApiIdentity {
  serverKey: string;
  serverPassword: string;
  userAgent: string;
  signCase: SignCase;
  now: () => number;
}

/** @throws DeviceCloudError `INVALID_INPUT` if the body has no JSON form */
export function toJson(body: JsonObject): string {
  let json: unknown;
  try {
    json = JSON.stringify(body);
  } catch (error) {
    const isCircular = readInput(
      'body',
      () => error instanceof Error && /circular/i.test(error.message),
    );
    const reason = isCircular ? ': it is circular' : '';
    throw invalidInput(`The body has no JSON form${reason}.`);
  }
  // Its own toJSON may return anything, or nothing.
  checkLength('JSON form of the body', json);
  if (typeof json === 'string' && json.startsWith('{')) return json;
  throw invalidInput('The JSON form of the body is no object.');
}

/** A request of the server API before it is signed. */
export interface UnsignedServerApiRequest {
  method: 'GET' | 'PUT';
  /** From `/api/server/` on, without the query. */
  path: string;
  /** Percent-encoded. */
  query: string;
  /** JSON. */
  body: string | undefined;
}

/** Signs a request of the server API now. */
export function signedServerApiRequest(
  identity: ServerApiIdentity,
  { method, path, query, body }: UnsignedServerApiRequest,
): HttpRequest {
  const { serverKey: key, serverPassword, userAgent, signCase } = identity;
  const timestamp = Math.floor(identity.now() / 1000);
  const sign = signServerApi({ method, path, key, timestamp }, serverPassword, signCase);
  const headers: Record<string, string> = {
    'user-agent': userAgent,
    key,
    timestamp: String(timestamp),
    sign,
  };
  const full = query === '' ? path : `${path}?${query}`;
  if (body === undefined) return { method, path: full, headers };
  headers['content-type'] = 'application/json';
  return { method, path: full, headers, body };
}
