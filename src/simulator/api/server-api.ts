import {
  readServerChange,
  SERVER_OK,
  serverDevice,
  serverDevices,
  serverUploads,
} from '../assumptions';
import { messageBytes, readFormat } from '../service/formats';
import { pushToDevice } from '../service/gateway';
import { inOrder, syncRecord } from '../devices/history';
import type { Answer, Incoming } from '../transport/incoming';
import { allUploads } from './open-api-cloud';
import { readPage, slice } from './paging';
import { badRequest } from '../transport/refusal';
import { findRoute, type Route, type Segments } from './routes';
import { checkServerSign } from './server-api-sign';
import type { Service } from '../service/service';
import { serverTime } from '../devices/time';

export const SERVER_API = '/api/server/';

interface ServerApiCall {
  readonly service: Service;
  readonly request: Incoming;
  readonly segments: Segments;
}

const pathDevice = ({ service, segments }: ServerApiCall) =>
  service.device(segments['deviceid'] ?? '');

function devices(call: ServerApiCall): object {
  const page = readPage(call.request.query, false);
  const ids = [...call.service.devices.keys()];
  return serverDevices(slice(ids, page), page.page, page.count, ids.length);
}

function device(call: ServerApiCall): object {
  const found = pathDevice(call);
  const { vertype } = found.settings;
  const { chipid, name, online, disabled } = found;
  return serverDevice({ chipid, name, online, disabled, vertype }, serverTime(found.lastSeen));
}

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
  const wanted = readServerChange(jsonObject(request.body));
  if (!wanted) throw badRequest('the body says neither what to change nor what to pass through');
  if (wanted.kind === 'passthrough') {
    const format = readFormat(wanted.format);
    const message = wanted.data;
    const push = {
      via: 'server-api',
      format,
      message,
      bytes: messageBytes(message, format),
    } as const;
    await pushToDevice(service, found, push, request.signal);
  } else {
    if (wanted.name !== undefined) found.name = wanted.name;
    if (wanted.disabled !== undefined) found.disable(wanted.disabled);
  }
  return SERVER_OK;
}

function uploads(call: ServerApiCall): object {
  const { service } = call;
  const page = readPage(call.request.query, true);
  const all = inOrder(allUploads(service), service.settings.historyOrder);
  const records = slice(all, page).map((upload) => syncRecord(upload, service.settings));
  return serverUploads(records, page.page, page.count, all.length);
}

const ROUTES: readonly Route<(call: ServerApiCall) => object | Promise<object>>[] = [
  { method: 'GET', path: 'devices', run: devices },
  { method: 'GET', path: 'devices/:deviceid', run: device },
  { method: 'PUT', path: 'devices/:deviceid', run: change },
  { method: 'GET', path: 'up/messages', run: uploads },
];

/** Interface A (section 4.1). */
export const createServerApi =
  (service: Service) =>
  async (request: Incoming): Promise<Answer> => {
    const { run, segments } = findRoute(
      ROUTES,
      request.method,
      request.path.slice(SERVER_API.length),
    );
    checkServerSign(service, request);
    return { status: 200, body: await run({ service, request, segments }) };
  };
