import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Params } from '../protocol/signing';
import { toJson } from './encoding';

/** A request whose body has been read whole. */
export interface Incoming {
  readonly method: string;
  /** The path as sent, without the query: the server API's sign is over it. */
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** A body that is sent as it is, in place of JSON. */
export class RawBody {
  constructor(
    readonly content: string | Buffer,
    readonly type: string,
  ) {}
}

/** An answer, as JSON unless its body is a {@link RawBody}. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request the service refuses: its status (section 7) and the `msg` that says why. */
export class Refusal extends Error implements Answer {
  override readonly name = 'Refusal';
  /** @param body of the answer; default `{msg}` */
  constructor(
    readonly status: number,
    msg: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly body: unknown = { msg },
  ) {
    super(msg);
  }
}

/** Missing or invalid parameters, or an illegal request. */
export const badRequest = (msg: string): Refusal => new Refusal(400, msg);

/** The device, the application or the path does not exist. */
export const notFound = (msg: string): Refusal => new Refusal(404, msg);

export const nothingHere = (): Refusal => notFound('there is nothing at this path');

/** The answer to a request that failed with an error. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  // Of decodeURIComponent.
  if (error instanceof URIError) return badRequest('the address is not percent-encoded UTF-8');
  return new Refusal(500, 'internal error');
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends an answer, as JSON (section 4.2, rule 4) unless its body is raw. */
export function sendAnswer(response: ServerResponse, answer: Answer): void {
  const { content, type } =
    answer.body instanceof RawBody ? answer.body : new RawBody(toJson(answer.body), JSON_TYPE);
  response.writeHead(answer.status, {
    'content-type': type,
    'content-length': Buffer.byteLength(content),
    ...answer.headers,
  });
  response.end(content);
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const LOOPBACK_HOST = `(?:localhost|127(?:\\.${OCTET}){3}|\\[::1\\])(?::\\d{1,5})?`;
const HOST = new RegExp(`^${LOOPBACK_HOST}$`, 'i');
const ORIGIN = new RegExp(`^https?://${LOOPBACK_HOST}$`, 'i');

/** The rest of the request is not worth reading, so the connection ends with the answer. */
const forbidden = (msg: string): Refusal => new Refusal(403, msg, { connection: 'close' });

/**
 * Refuses requests that a foreign web page can make a browser on this machine send. Listening on
 * loopback alone does not keep such a page out:
 * - by DNS rebinding its own name resolves to 127.0.0.1, and then the name is in `Host`;
 * - a script's POST or WebSocket goes to loopback directly, with the page's `Origin`, or `null`;
 * - an image or a link of the page sends no `Origin`, but browsers add `Sec-Fetch-Site`.
 * A page that itself comes from loopback, such as Node-RED's editor, may call.
 * @throws Refusal 403
 */
export function checkLocal(headers: IncomingHttpHeaders): void {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if (!HOST.test(host)) {
    throw forbidden(
      'Host must be a loopback address or localhost: the simulator is for this machine',
    );
  }
  if (origin === undefined ? site === 'cross-site' : !ORIGIN.test(origin)) {
    throw forbidden('the simulator takes no requests from web pages of other hosts');
  }
}

/**
 * The parameters of a request, raw values by name: of the URL's query and of a POST's form-encoded
 * body (section 4.2, rule 3). Stricter than URLSearchParams.
 * @throws Refusal 400 if they cannot be read, or one is given twice
 */
export function readParams(query: string, form = ''): Params {
  const params = new Map<string, string>();
  const lowercased = new Set<string>();
  for (const pair of `${query}&${form}`.replaceAll('+', ' ').split('&')) {
    if (pair === '') continue;
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decodeURIComponent);
    if (lowercased.has(name.toLowerCase())) {
      throw badRequest(`parameter ${name} is given more than once`);
    }
    lowercased.add(name.toLowerCase());
    params.set(name, value);
  }
  return Object.fromEntries(params);
}

const FORM = 'application/x-www-form-urlencoded';

/** The form of a POST body, assumed to be of the usual type (4.2, rule 3). @throws Refusal 400 if the body is of another kind */
export function readForm(contentType: string | undefined, body: Buffer): string {
  if (body.length === 0) return '';
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== FORM) throw badRequest(`the body's type must be ${FORM}`);
  if (!isUtf8(body)) throw badRequest('the body is not UTF-8');
  return body.toString('utf8');
}

/** A required parameter. An empty one counts as missing. */
export function requireParam(params: Params, name: string): string {
  const value = params[name];
  if (value === undefined || value === '') throw badRequest(`parameter ${name} is missing`);
  return value;
}

/** Whether a text is a non-negative integer, of any number of digits. */
export const isInteger = (text: string): boolean => /^[0-9]+$/.test(text);

/** A text that has to be a non-negative integer, as text, since it may have 20 digits. */
export function integer(name: string, value: string): string {
  if (!isInteger(value)) throw badRequest(`${name} must be an integer`);
  return value;
}

/** One row of a route table. */
export interface Route<Run> {
  readonly method: string;
  readonly path: RegExp;
  readonly run: Run;
}

/** Makes a row. @param path in which `:name` matches one segment */
export const route = <Run>(method: string, path: string, run: Run): Route<Run> => ({
  method,
  path: new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
  run,
});

/** What stood in the path's segments, by name. */
export type Segments = Readonly<Record<string, string>>;

/**
 * Finds the row for a request.
 * @param noPath makes the refusal of a path that no row has
 * @throws Refusal that, or 400 if a row has the path with another method
 */
export function findRoute<Run>(
  table: readonly Route<Run>[],
  method: string,
  path: string,
  noPath: () => Refusal,
): { run: Run; segments: Segments } {
  const known = table.filter((each) => each.path.test(path));
  if (known.length === 0) throw noPath();
  const found = known.find((each) => each.method === method);
  // Assumed: "an illegal request" (7).
  if (!found) throw badRequest(`${method} is not the method of this path`);
  const segments = Object.entries(found.path.exec(path)?.groups ?? {});
  const decoded = segments.map(([name, text]) => [name, decodeURIComponent(text)]);
  return { run: found.run, segments: Object.fromEntries(decoded) as Segments };
}
