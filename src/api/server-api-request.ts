import { invalidInput } from '../errors';
import { checkLength } from '../input/push-payload';
import { readInput } from '../input/values';
import type { HttpRequest } from '../http/exchange';
import type { JsonObject } from '../types';
import { signServerApi, type SignCase } from './signing';

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
