import { hash } from 'node:crypto';
import { invalidInput, notConfigured } from '../errors';
import { checkLength, jsonText } from './values';
import type { JsonObject } from '../types';
import type { HttpRequest, UnsignedRequest } from './call-spec';

const { name, version } = require('../../../package.json') as { name: string; version: string };

/** Of this package. */
export const VERSION = version;

/** Section 4.2, rule 5: clients send their own User-Agent. The `@` and `/` of a scope are invalid in one. */
export const USER_AGENT = `${name.replace(/^.*\//, '')}/${version}`;

/** Request parameters by name. A value is the raw one, before any URL or form encoding. */
export type Params = Readonly<Record<string, string>>;

function md5(text: string): string {
  try {
    // In one call, without an object that has to be collected.
    return hash('md5', text);
  } catch {
    throw notConfigured(
      'This Node.js does not make MD5 hashes, with which the service has its requests signed: it is in FIPS mode. Nothing was sent. ' +
        'Run it without that mode.',
    );
  }
}

/**
 * The canonical text of a request's parameters (section 5.2, step 2): `key=value` pairs, lowercased
 * as a whole, not URL-encoded, in descending order of the lowercased key, joined with `&`.
 * A parameter `sign` is left out. Which letters are lowercased is not shown: those of all alphabets are.
 */
export const canonicalParams = (params: Params): string =>
  Object.entries(params)
    .map(([name, value]) => ({ key: name.toLowerCase(), value }))
    .filter(({ key }) => key !== 'sign')
    .sort((one, other) => Number(one.key < other.key) - Number(one.key > other.key))
    .map(({ key, value }) => `${key}=${value}`)
    .join('&')
    .toLowerCase();

/**
 * Signs a request of the open API or of the channel (section 5.2).
 * @param method the request method, in any case; the channel's is `get`
 * @param params all parameters of the URL's query and of the POST body, raw, `appid` and `timestamp` among them
 * @param appkey the application's key, used as it is: only method and parameters are lowercased
 * @returns 32 lowercase hexadecimal characters
 */
export function signOpenApi(method: string, params: Params, appkey: string): string {
  return md5(method.toLowerCase() + canonicalParams(params) + appkey);
}

/** What the signature of the server API is made of (section 5.1). */
export interface ServerApiRequest {
  /** The request method, for example `GET`. */
  method: string;
  /** The path alone, without scheme, host or query, for example `/api/server/devices`. */
  path: string;
  key: string;
  /** The header `Timestamp`: Unix time in seconds. */
  timestamp: number | string;
}

/**
 * Signs a request of the server API (section 5.1). Unlike the open API's key, the password is
 * lowercased with all the rest.
 * @returns 32 lowercase hexadecimal characters
 */
export function signServerApi(request: ServerApiRequest, password: string): string {
  const { method, path, key, timestamp } = request;
  const text = `${method}${path}key=${key}timestamp=${timestamp}${password}`;
  return md5(text.toLowerCase());
}

/** Writes parameters as a URL query, which is also the body of a form: percent-encoded, ASCII only. */
export const encodeQuery = (params: Readonly<Record<string, string | number | boolean>>): string =>
  Object.entries(params)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');

/** The caller of the open API: the application and its key (section 5.2). */
export interface OpenApiIdentity {
  appid: string;
  appkey: string;
  /** Milliseconds since 1970, as of Date.now. */
  now: () => number;
}

/**
 * Signs a request of the open API now. The common parameters are in the query; further ones are
 * there, too, and of a POST in its form-encoded body (section 4.2, rules 2 and 3; how a body is encoded is not shown).
 */
export function signedOpenApiRequest(
  identity: OpenApiIdentity,
  { method, path, params = {} }: UnsignedRequest,
): HttpRequest {
  const { appid, appkey } = identity;
  const timestamp = String(Math.floor(identity.now() / 1000));
  const sign = signOpenApi(method, { timestamp, ...params, appid }, appkey);
  const query = `appid=${appid}&timestamp=${timestamp}&sign=${sign}`;
  const further = encodeQuery(params);
  const headers: Record<string, string> = { 'user-agent': USER_AGENT };
  if (method === 'POST') {
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
  now: () => number;
}

/** @throws DeviceCloudError `INVALID_INPUT` if the body has no JSON form, or one that is no object */
export function toJson(body: JsonObject): string {
  const json = jsonText('body', body);
  checkLength('JSON form of the body', json);
  if (json.startsWith('{')) return json;
  throw invalidInput('The JSON form of the body is no object.');
}

/** Signs a request of the server API now. */
export function signedServerApiRequest(
  identity: ServerApiIdentity,
  { method, path, query = '', body }: UnsignedRequest,
): HttpRequest {
  const { serverKey: key, serverPassword } = identity;
  const timestamp = Math.floor(identity.now() / 1000);
  const sign = signServerApi({ method, path, key, timestamp }, serverPassword);
  const headers: Record<string, string> = {
    'user-agent': USER_AGENT,
    key,
    timestamp: String(timestamp),
    sign,
  };
  const full = query === '' ? path : `${path}?${query}`;
  if (body === undefined) return { method, path: full, headers };
  headers['content-type'] = 'application/json';
  return { method, path: full, headers, body };
}

/** How a request was signed, and a command that sends the same one. Neither has a key or a sign in it. */
export interface SignedText {
  /** The text whose MD5 is the sign. A name such as `<APPKEY>` stands for each key. */
  signed: string;
  /** For a POSIX shell with `curl` and `openssl`. It takes the keys from its environment, and the time at which it runs. */
  curl: string;
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * @param keys environment variables that must be set
 * @param text what is signed: a format of `printf` and its values
 * @param request the arguments of `curl`
 */
const command = (keys: readonly string[], text: string, request: string): string =>
  [
    `: ${keys.map((name) => `"\${${name}:?}"`).join(' ')} &&`,
    'timestamp=$(date +%s) &&',
    // The output of openssl has differed over time.
    `sign=$(printf ${text} | openssl md5 | sed 's/.*= *//') &&`,
    `curl -sSi ${request}`,
  ].join('\n');

/** The timestamp that a request has now, in seconds. */
const timestampOf = (now: number): string => String(Math.floor(now / 1000));

/** Of reading the application's record (section 5.2). @param appid digits @param now milliseconds since 1970 */
export function signedAppText(origin: string, appid: string, now: number): SignedText {
  const textOf = (timestamp: string): string => `get${canonicalParams({ timestamp, appid })}`;
  const url = `${quote(`${origin}/openapi/apps/?appid=${appid}&timestamp=`)}"$timestamp"'&sign='"$sign"`;
  return {
    signed: `${textOf(timestampOf(now))}<APPKEY>`,
    curl: command(['APPKEY'], `'${textOf('%s')}%s' "$timestamp" "$APPKEY"`, url),
  };
}

/** Of listing one of the server API's devices (section 5.1). @param now milliseconds since 1970 */
export function signedServerText(origin: string, now: number): SignedText {
  const path = '/api/server/devices';
  const keys = ['SERVER_KEY', 'SERVER_PASSWORD'];
  const values = '"$SERVER_KEY" "$timestamp" "$SERVER_PASSWORD"';
  const text = `'get${path}key=%stimestamp=%s%s' ${values} | LC_ALL=C tr 'A-Z' 'a-z'`;
  const headers = `-H "Key: $SERVER_KEY" -H "Timestamp: $timestamp" -H "Sign: $sign"`;
  return {
    signed: `get${path}key=<SERVER_KEY>timestamp=${timestampOf(now)}<SERVER_PASSWORD>`,
    curl: command(keys, text, `${headers} ${quote(`${origin}${path}?page=1&count=1`)}`),
  };
}
