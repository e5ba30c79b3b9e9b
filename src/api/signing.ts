import { hash } from 'node:crypto';

/** Request parameters by name. A value is the raw one, before any URL or form encoding. */
export type Params = Readonly<Record<string, string>>;

/** Which letters a signature lowercases: those of all alphabets, or A to Z alone. The first is usual. */
export const SIGN_CASES = ['unicode', 'ascii'] as const;
export type SignCase = (typeof SIGN_CASES)[number];

export const lowercase = (text: string, signCase: SignCase): string =>
  signCase === 'unicode'
    ? text.toLowerCase()
    : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

// In one call, without an object that has to be collected.
const md5 = (text: string): string => hash('md5', text);

/**
 * The canonical text of a request's parameters (section 5.2, step 2): `key=value` pairs, lowercased
 * as a whole, not URL-encoded, in descending order of the lowercased key, joined with `&`.
 * A parameter `sign` is left out.
 * @param signCase how it is lowercased, which is not shown; default `unicode`
 */
export function canonicalParams(params: Params, signCase: SignCase = 'unicode'): string {
  // Inserts each in its place: there are only a handful, mostly in order, so this is faster than sorting.
  const keys: string[] = [];
  const pairs: string[] = [];
  for (const name of Object.keys(params)) {
    const key = lowercase(name, signCase);
    if (key === 'sign') continue;
    let at = keys.length;
    for (; at > 0 && (keys[at - 1] as string) < key; at--) {
      keys[at] = keys[at - 1] as string;
      pairs[at] = pairs[at - 1] as string;
    }
    keys[at] = key;
    pairs[at] = `${key}=${String(params[name])}`;
  }
  return lowercase(pairs.join('&'), signCase);
}

/**
 * Signs a request of the open API or of the channel (section 5.2).
 * @param method the request method, in any case; the channel's is `get`
 * @param params all parameters of the URL's query and of the POST body, raw, `appid` and `timestamp` among them
 * @param appkey the application's key, used as it is: only method and parameters are lowercased
 * @param signCase how parameters are lowercased, default `unicode`
 * @returns 32 lowercase hexadecimal characters
 */
export function signOpenApi(
  method: string,
  params: Params,
  appkey: string,
  signCase?: SignCase,
): string {
  return md5(method.toLowerCase() + canonicalParams(params, signCase) + appkey);
}

/** What the signature of the server API is made of (section 5.1). */
export interface ServerApiRequest {
  /** The request method, for example `GET`. */
  method: string;
  /** The path alone, without scheme, host or query, for example `/api/server/devices`. */
  path: string;
  /** The header `Key`. */
  key: string;
  /** The header `Timestamp`: Unix time in seconds. */
  timestamp: number | string;
}

/**
 * Signs a request of the server API (section 5.1). Unlike the open API's key, the password is
 * lowercased with all the rest.
 * @param signCase how, default `unicode`
 * @returns 32 lowercase hexadecimal characters
 */
export function signServerApi(
  request: ServerApiRequest,
  password: string,
  signCase: SignCase = 'unicode',
): string {
  const { method, path, key, timestamp } = request;
  const text = `${method}${path}key=${key}timestamp=${timestamp}${password}`;
  return md5(lowercase(text, signCase));
}
