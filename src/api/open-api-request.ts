import type { HttpRequest } from '../http/exchange';
import { encodeQuery } from './query';
import { signOpenApi, type Params, type SignCase } from './signing';

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
