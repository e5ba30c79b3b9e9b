import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { CHANNEL_PATH } from './channels';
import { keep, LOGGED, logged, type OpenRecord } from './history';
import {
  badRequest,
  checkLocal,
  nothingHere,
  refusalOf,
  sendAnswer,
  type Answer,
  type Incoming,
} from './http';
import { createOpenApi, OPEN_API } from './open-api';
import { createServerApi, SERVER_API } from './server-api';
import type { Service } from './service';

/** Longer than clients keep a connection, so that none is closed while a request is on its way. */
const KEEP_ALIVE = 65_000;

/** The texts of a request of which one is the chip number, if it names a device. Nothing of it has been checked. */
const namesOf = ({ path, query, body }: Incoming): string[] => [
  ...path.split('/'),
  ...new URLSearchParams(query).getAll('devid'),
  ...new URLSearchParams(body.toString('utf8')).getAll('devid'),
];

function createDispatch(service: Service): (request: Incoming) => Promise<Answer> {
  const openApi = createOpenApi(service);
  const serverApi = createServerApi(service);
  return async (request) => {
    try {
      if (request.path.startsWith(OPEN_API)) return await openApi(request);
      if (request.path.startsWith(SERVER_API)) return await serverApi(request);
      if (request.path !== CHANNEL_PATH) throw nothingHere();
      // Assumed (7).
      throw badRequest('the channel takes WebSocket upgrades only');
    } catch (error) {
      return refusalOf(error);
    }
  };
}

/** The HTTP server of interfaces A, B and C, not yet listening. */
export function createHttpServer(service: Service): Server {
  const dispatch = createDispatch(service);
  /** Notes a request; its body and status are filled in later. */
  const noted = ({ method = '', url = '', headers }: IncomingMessage): OpenRecord => {
    const [path = '', query = ''] = url.split(/\?(.*)/s);
    const at = service.settings.now();
    const record = { method, path, query, body: '', headers, at, status: 0 };
    keep(service.requests, record, LOGGED);
    return record;
  };

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const record = noted(message);
    response.setHeader('date', new Date(record.at).toUTCString());
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    // Writing to a client that has gone.
    response.on('error', () => undefined);
    const note = (): void => {
      if (response.headersSent) record.status = response.statusCode;
    };
    response.once('close', note).once('finish', note);
    checkLocal(message.headers);
    const body = await buffer(message);
    record.body = logged(body);
    const { method, path, query, headers } = record;
    const request: Incoming = { method, path, query, headers, body, signal: gone.signal };
    const carryOut = () => dispatch(request);
    const fault = service.faults.claim('answer', () => namesOf(request), path);
    if (!fault || fault.acts) {
      const answer = await carryOut();
      if (!fault && !gone.signal.aborted) sendAnswer(response, answer);
    }
    if (fault && !gone.signal.aborted) {
      await fault.run({ response, wire: message.socket, carryOut });
    }
  };

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE }, (message, response) => {
    handle(message, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) message.socket.destroy();
      else sendAnswer(response, refusalOf(error));
    });
  });
  server.on('upgrade', (message, wire, head) =>
    service.channels.upgrade(message, wire, head, noted(message)),
  );
  server.on('connection', (socket) => {
    service.connections.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => service.connections.delete(socket));
  });
  return server;
}
