import { signServerApi } from '../protocol/signing';
import type { Device } from './device';
import { readObject } from './encoding';
import { inOrder } from './history';
import {
  badRequest,
  findRoute,
  integer,
  nothingHere,
  readParams,
  Refusal,
  requireParam,
  route,
  type Answer,
  type Incoming,
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
 * @throws Refusal 400 if a header is missing, 401 if the sign is wrong or, assumed, the clock off
 */
function checkServerSign({ settings }: Service, request: Incoming): void {
  const key = header(request, 'key');
  const timestamp = integer('header timestamp', header(request, 'timestamp'));
  const sign = header(request, 'sign');
  const { method, path } = request;
  const expected = signServerApi({ method, path, key, timestamp }, settings.serverPassword);
  if (key !== settings.serverKey || sign !== expected) throw new Refusal(401, 'sign is wrong');
  if (Math.abs(Number(timestamp) - settings.now() / 1000) > MAX_CLOCK_OFF) {
    throw new Refusal(401, 'Timestamp is too far from the time of the server');
  }
}

/** Assumed: the limits and defaults of `page` (from 1) and `count`. Of `/up/messages` both are required (4.1). */
const PAGING = { page: 1, count: 20, maxCount: 1000 } as const;

/** The part of a list that `page` and `count` of a query ask for (section 4.1). @throws Refusal 400 */
function pageOf<T>(items: readonly T[], query: string, areRequired: boolean) {
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

type ServerApiRun = (call: ServerApiCall) => object | Promise<object>;

const pathDevice = ({ service, segments }: ServerApiCall): Device =>
  service.dialect.serverDevice(service, segments['deviceid'] ?? '');

function devices({ service, request }: ServerApiCall): object {
  const { part, page } = pageOf([...service.devices.values()], request.query, false);
  return service.dialect.serverList(part, page);
}

const device = (call: ServerApiCall): object =>
  call.service.dialect.serverRecord(pathDevice(call), call.service.form);

/** Renames, disables or re-enables a device, or passes data through to it: one method, one path. */
async function change(call: ServerApiCall): Promise<object> {
  const { service, request } = call;
  const found = pathDevice(call);
  const { dialect } = service;
  const body = readObject(request.body.toString('utf8'));
  if (!body) throw badRequest('the body must be a JSON object');
  const wanted = dialect.readChange(request.method, body);
  if (!wanted) throw badRequest('the body says neither what to change nor what to pass through');
  const { data: message, format = 'MSG' } = wanted;
  const { name = found.name, note = found.note, disabled = found.disabled } = wanted;
  found.name = name;
  found.note = note;
  if (disabled !== found.disabled) found.disable(disabled);
  if (message !== undefined) {
    const bytes = dialect.messageBytes(message, format, 'server-api');
    const push = { via: 'server-api', format, message, bytes } as const;
    await service.push(found, push, request.signal);
  }
  // Assumed (4.1).
  return { msg: 'OK' };
}

function uploads({ service, request }: ServerApiCall): object {
  const { dialect, form } = service;
  const all = inOrder(service.allUploads(), dialect.isNewestFirst);
  const { part, page } = pageOf(all, request.query, true);
  return dialect.serverUploads(part, page, form);
}

const ROUTES = [
  route<ServerApiRun>('GET', 'devices', devices),
  route<ServerApiRun>('GET', 'devices/:deviceid', device),
  route<ServerApiRun>('PUT', 'devices/:deviceid', change),
  route<ServerApiRun>('GET', 'up/messages', uploads),
];

/** The way of data to a device that only one dialect has. */
const POST_ROUTE = route<ServerApiRun>('POST', 'device/:deviceid/messages', change);

/** Interface A (section 4.1). */
export function createServerApi(service: Service): (request: Incoming) => Promise<Answer> {
  const routes = service.dialect.posts ? [...ROUTES, POST_ROUTE] : ROUTES;
  return async (request) => {
    const path = request.path.slice(SERVER_API.length);
    const { run, segments } = findRoute(routes, request.method, path, nothingHere);
    checkServerSign(service, request);
    return { status: 200, body: await run({ service, request, segments }) };
  };
}
