import { signServerApi } from '../api/signing';
import { DEFAULT_FORMAT, PAGING, SERVER_OK, STATUS, type ListPage } from './assumptions';
import { pushToDevice } from './device-calls';
import { formatOf } from './dialect';
import { inOrder } from './history';
import {
  badRequest,
  findRoute,
  integer,
  notFound,
  readParams,
  Refusal,
  requireParam,
  route,
  type Answer,
  type Incoming,
  type Route,
  type Segments,
} from './http';
import type { Service } from './service';

export const SERVER_API = '/api/server/';

/** Section 5.1, in seconds. */
const MAX_CLOCK_OFF = 7200;

function header({ headers }: Incoming, name: string): string {
  const value = headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw badRequest(`header ${name} is missing`);
}

/**
 * Checks the headers of interface A (section 5.1). The sign is over the path as it was sent.
 * @throws Refusal 400 if a header is missing, 401 if the sign is wrong or the application gone
 */
function checkServerSign({ settings, isDeleted }: Service, request: Incoming): void {
  const key = header(request, 'key');
  const timestamp = integer('header timestamp', header(request, 'timestamp'));
  const sign = header(request, 'sign');
  const { method, path } = request;
  const expected = signServerApi({ method, path, key, timestamp }, settings.serverPassword);
  if (isDeleted) throw new Refusal(401, 'the application has been deleted');
  if (key !== settings.serverKey || sign !== expected) throw new Refusal(401, 'sign is wrong');
  if (Math.abs(Number(timestamp) - settings.now() / 1000) > MAX_CLOCK_OFF) {
    throw new Refusal(STATUS.clockOff, 'Timestamp is too far from the time of the server');
  }
}

/**
 * The part of a list that `page` and `count` of a query ask for (section 4.1).
 * @param areRequired whether they have to be given
 * @throws Refusal 400
 */
function pageOf<T>(
  items: readonly T[],
  query: string,
  areRequired: boolean,
): { part: T[]; page: ListPage } {
  const params = readParams(query);
  const read = (name: 'page' | 'count', max: number): number => {
    if (params[name] === undefined && !areRequired) return PAGING[name];
    const value = Number(integer(name, requireParam(params, name)));
    if (value < 1 || value > max) throw badRequest(`${name} must be from 1 to ${max}`);
    return value;
  };
  const page = read('page', Number.MAX_SAFE_INTEGER);
  const count = read('count', PAGING.maxCount);
  const part = items.slice((page - 1) * count, page * count);
  return { part, page: { page, count, total: items.length } };
}

interface ServerApiCall {
  readonly service: Service;
  readonly request: Incoming;
  readonly segments: Segments;
}

const dialectOf = ({ service }: ServerApiCall) => service.dialect.server;

const pathDevice = (call: ServerApiCall) =>
  dialectOf(call).find(call.service, call.segments['deviceid'] ?? '');

function devices(call: ServerApiCall): object {
  const { part, page } = pageOf([...call.service.devices.values()], call.request.query, false);
  return dialectOf(call).devices(call.service, part, page);
}

const device = (call: ServerApiCall): object =>
  dialectOf(call).device(call.service, pathDevice(call));

/** Null if it is not JSON. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function jsonObject(body: Buffer): Record<string, unknown> {
  const value = parsed(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw badRequest('the body must be a JSON object');
}

/** Renames, disables or re-enables a device, or passes data through to it: one method, one path. */
async function change(call: ServerApiCall): Promise<object> {
  const { service, request } = call;
  const found = pathDevice(call);
  const { dialect } = service;
  const wanted = dialect.server.readChange(request.method, jsonObject(request.body));
  if (!wanted) throw badRequest('the body says neither what to change nor what to pass through');
  if (wanted.kind === 'passthrough') {
    const format = formatOf(wanted.format) ?? DEFAULT_FORMAT;
    const message = wanted.data;
    const bytes = dialect.messageBytes(message, format);
    const push = { via: 'server-api', format, message, bytes } as const;
    await pushToDevice(service, found, push, request.signal);
  } else {
    if (wanted.name !== undefined) found.name = wanted.name;
    if (wanted.note !== undefined) found.note = wanted.note;
    if (wanted.disabled !== undefined) found.disable(wanted.disabled);
  }
  return SERVER_OK;
}

function uploads(call: ServerApiCall): object {
  const { service } = call;
  const all = inOrder(service.allUploads(), service.settings.historyOrder, ({ made }) => made);
  const { part, page } = pageOf(all, call.request.query, true);
  return dialectOf(call).uploads(service, part, page);
}

type ServerApiRoute = Route<(call: ServerApiCall) => object | Promise<object>>;

const ROUTES: readonly ServerApiRoute[] = [
  route('GET', 'devices', devices),
  route('GET', 'devices/:deviceid', device),
  route('PUT', 'devices/:deviceid', change),
  route('GET', 'up/messages', uploads),
];

/** The way of data to a device that only one dialect has. */
const POST_ROUTE: ServerApiRoute = route('POST', 'device/:deviceid/messages', change);

/** Interface A (section 4.1). */
export function createServerApi(service: Service): (request: Incoming) => Promise<Answer> {
  const routes = service.dialect.server.posts ? [...ROUTES, POST_ROUTE] : ROUTES;
  const noPath = () => notFound('there is nothing at this path');
  return async (request) => {
    const path = request.path.slice(SERVER_API.length);
    const { run, segments } = findRoute(routes, request.method, path, noPath);
    checkServerSign(service, request);
    return { status: 200, body: await run({ service, request, segments }) };
  };
}
