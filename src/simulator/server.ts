import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MAX_REQUEST_BODY, STATUS } from './assumptions';
import { CHANNEL_PATH, createChannelServer } from './channel-api';
import type { Aim } from './faults';
import {
  badRequest,
  Broken,
  checkLocal,
  notFound,
  Refusal,
  sendAnswer,
  type Answer,
  type Incoming,
} from './http';
import { logged, type RequestLog } from './log';
import { createOpenApi, OPEN_API } from './open-api';
import { createServerApi, SERVER_API } from './server-api';
import type { Service } from './service';

/** Longer than clients keep a connection, so that none is closed while a request is on its way. */
const KEEP_ALIVE = 65_000;
/** A client that sends its request slower than this is cut off: ms for the headers, and for all of it. */
const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 120_000;
/** Channels included: two for each of as many devices as there can be. */
const MAX_CONNECTIONS = 20_000;

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_REQUEST_BODY) chunks.push(chunk);
  }
  if (size > MAX_REQUEST_BODY) throw badRequest('the body is too long');
  return Buffer.concat(chunks);
}

/** Finds the device that a request names, before anything of it has been checked. */
const aimOf = ({ path, query, body }: Incoming): Aim => ({
  path,
  concerns: (chipid) =>
    path.split('/').includes(chipid) ||
    [query, body.toString('utf8')].some(
      (part) => new URLSearchParams(part).get('devid') === chipid,
    ),
});

const toAnswer = (error: unknown): Answer =>
  error instanceof Refusal ? error : new Refusal(500, 'internal error');

function createDispatch(service: Service): (request: Incoming) => Promise<Answer> {
  const openApi = createOpenApi(service);
  const serverApi = createServerApi(service);
  const dispatch = (request: Incoming): Promise<Answer> => {
    if (request.path.startsWith(OPEN_API)) return openApi(request);
    if (request.path.startsWith(SERVER_API)) return serverApi(request);
    if (request.path !== CHANNEL_PATH) throw notFound('there is nothing at this path');
    throw new Refusal(STATUS.notAnUpgrade, 'the channel takes WebSocket upgrades only');
  };
  return async (request) => {
    try {
      return await dispatch(request);
    } catch (error) {
      if (error instanceof Broken) throw error;
      return toAnswer(error);
    }
  };
}

/** The HTTP server of interfaces A, B and C, not yet listening, and the connections it has open. */
export function createHttpServer(
  service: Service,
  log: RequestLog,
): { server: Server; connections: ReadonlySet<Socket> } {
  const dispatch = createDispatch(service);
  const { now } = service.settings;

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const record = log.open(message);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    // Writing to a client that has gone.
    response.on('error', () => undefined);
    const note = (): void => {
      if (response.headersSent) record.status = response.statusCode;
    };
    response.once('close', note).once('finish', note);
    checkLocal(message.headers);
    const body = await readBody(message);
    record.body = logged(body);
    const { method, path, query, headers } = record;
    const request: Incoming = { method, path, query, headers, body, signal: gone.signal };
    const carryOut = () => dispatch(request);
    const fault = service.faults.claimAnswer(aimOf(request));
    if (!fault) {
      const answer = await carryOut();
      if (!gone.signal.aborted) sendAnswer(response, answer, now());
      return;
    }
    if (fault.acts) await carryOut();
    if (!gone.signal.aborted) await fault.run({ response, wire: message.socket, now, carryOut });
  };

  const timeouts = {
    keepAliveTimeout: KEEP_ALIVE,
    headersTimeout: HEADERS_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
    connectionsCheckingInterval: HEADERS_TIMEOUT,
  };
  const server = createServer(timeouts, (message, response) => {
    handle(message, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed || error instanceof Broken)
        message.socket.destroy();
      else sendAnswer(response, toAnswer(error), now());
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('upgrade', createChannelServer(service, log));
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => connections.delete(socket));
  });
  return { server, connections };
}
