import { DEFAULT_FORMAT, SERVER_OK } from '../assumptions';
import type { ListPage } from '../dialects/dialect';
import { formatOf } from '../dialects/formats';
import { pushToDevice } from '../service/gateway';
import { inOrder } from '../devices/history';
import type { Answer, Incoming } from '../transport/incoming';
import { allUploads } from './open-api-cloud';
import { readPage, slice } from './paging';
import { badRequest, notFound } from '../transport/refusal';
import { findRoute, type Route, type Segments } from './routes';
import { checkServerSign } from './server-api-sign';
import type { Service } from '../service/service';

export const SERVER_API = '/api/server/';

interface ServerApiCall {
  readonly service: Service;
  readonly request: Incoming;
  readonly segments: Segments;
}

const dialectOf = ({ service }: ServerApiCall) => service.dialect.server;

const pathDevice = (call: ServerApiCall) =>
  dialectOf(call).find(call.service, call.segments['deviceid'] ?? '');

function devices(call: ServerApiCall): object {
  const page = readPage(call.request.query, false);
  const all = [...call.service.devices.values()];
  const list: ListPage = { ...page, total: all.length };
  return dialectOf(call).devices(call.service, slice(all, page), list);
}

const device = (call: ServerApiCall): object =>
  dialectOf(call).device(call.service, pathDevice(call));

function jsonObject(body: Buffer): Record<string, unknown> {
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Answered like any other body that is not an object.
  }
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
  const page = readPage(call.request.query, true);
  const all = inOrder(allUploads(service), service.settings.historyOrder, ({ made }) => made);
  const list: ListPage = { ...page, total: all.length };
  return dialectOf(call).uploads(service, slice(all, page), list);
}

type ServerApiRoute = Route<(call: ServerApiCall) => object | Promise<object>>;

const ROUTES: readonly ServerApiRoute[] = [
  { method: 'GET', path: 'devices', run: devices },
  { method: 'GET', path: 'devices/:deviceid', run: device },
  { method: 'PUT', path: 'devices/:deviceid', run: change },
  { method: 'GET', path: 'up/messages', run: uploads },
];

/** The way of data to a device that only one dialect has. */
const POST_ROUTE: ServerApiRoute = {
  method: 'POST',
  path: 'device/:deviceid/messages',
  run: change,
};

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
