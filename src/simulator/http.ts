import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Params } from '../api/signing';
import { FORM_TYPE, MAX_PARAMETERS, STATUS } from './assumptions';
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
  readonly bytes: Buffer;
  constructor(
    content: string | Buffer,
    readonly type: string,
  ) {
    this.bytes = typeof content === 'string' ? Buffer.from(content) : content;
  }
}

/** The connection is broken off in place of an answer. */
export class Broken extends Error {}

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

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends an answer, as JSON (section 4.2, rule 4) unless its body is raw.
 * @param now the simulator's time, for the header `Date`, in milliseconds
 */
export function sendAnswer(response: ServerResponse, answer: Answer, now: number): void {
  const { bytes, type } =
    answer.body instanceof RawBody ? answer.body : new RawBody(toJson(answer.body), JSON_TYPE);
  response.writeHead(answer.status, {
    date: new Date(now).toUTCString(),
    'content-type': type,
    'content-length': bytes.length,
    ...answer.headers,
  });
  response.end(bytes);
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const LOOPBACK_HOST = `(?:localhost|127(?:\\.${OCTET}){3}|\\[::1\\])(?::\\d{1,5})?`;
const HOST = new RegExp(`^${LOOPBACK_HOST}$`, 'i');
const ORIGIN = new RegExp(`^https?://${LOOPBACK_HOST}$`, 'i');

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

/** The rest of the request is not worth reading, so the connection ends with the answer. */
const forbidden = (msg: string): Refusal => new Refusal(403, msg, { connection: 'close' });

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest(`${what} is not percent-encoded UTF-8`);
  }
}

/** Reads `key=value` pairs joined with `&`, percent-encoded. Stricter than URLSearchParams. */
function* pairs(encoded: string): Generator<[name: string, value: string]> {
  for (const pair of encoded.split('&')) {
    if (pair === '') continue;
    const [name = '', ...value] = pair.replaceAll('+', ' ').split('=');
    yield [decode(name, 'a parameter'), decode(value.join('='), 'a parameter')];
  }
}

/**
 * The parameters of a request, raw values by name: of the URL's query and of a POST's form-encoded
 * body (section 4.2, rule 3).
 * @throws Refusal 400 if they cannot be read, one is given twice, or there are too many
 */
export function readParams(query: string, form = ''): Params {
  const params = new Map<string, string>();
  const lowercased = new Set<string>();
  for (const encoded of [query, form]) {
    for (const [name, value] of pairs(encoded)) {
      const key = name.toLowerCase();
      if (lowercased.has(key)) throw badRequest(`parameter ${name} is given more than once`);
      if (lowercased.size === MAX_PARAMETERS) throw badRequest('there are too many parameters');
      lowercased.add(key);
      params.set(name, value);
    }
  }
  return Object.fromEntries(params);
}

/** The form of a POST body. @throws Refusal 400 if the body is of another kind */
export function readForm(contentType: string | undefined, body: Buffer): string {
  if (body.length === 0) return '';
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) throw badRequest(`the body's type must be ${FORM_TYPE}`);
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

/** Whether a table has a row for a path, whatever the method. */
export const hasPath = (table: readonly Route<unknown>[], path: string): boolean =>
  table.some((each) => each.path.test(path));

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
  if (!hasPath(table, path)) throw noPath();
  const found = table.find((each) => each.method === method && each.path.test(path));
  if (!found) throw new Refusal(STATUS.wrongMethod, `${method} is not the method of this path`);
  const segments = Object.entries(found.path.exec(path)?.groups ?? {});
  const decoded = segments.map(([name, text]) => [name, decode(text, 'the path')]);
  return { run: found.run, segments: Object.fromEntries(decoded) as Segments };
}
