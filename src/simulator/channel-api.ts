import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { decodeBase64, MAX_PUSHED_FRAME } from './assumptions';
import { refuseUpgrade, type Channel } from './faults';
import { checkLocal, integer, notFound, readParams, Refusal, requireParam } from './http';
import type { OpenRecord, RequestLog } from './log';
import { keepsUp, type Service } from './service';

/** Section 4.3; without a final `/`. */
export const CHANNEL_PATH = '/noticed/peer';

/** Checks a request for a channel (section 4.3). @returns the chip number */
function admit(service: Service, { path, query }: OpenRecord): string {
  if (path !== CHANNEL_PATH) throw notFound('there is no channel at this path');
  const params = readParams(query);
  const chipid = integer('chipid', requireParam(params, 'chipid'));
  const { dialect } = service;
  dialect.checkSign(service, { method: 'get', query: params, params, of: 'channel' });
  return service.device(chipid).chipid;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Ignored, like a frame of an unknown type.
  }
  return {};
}

/** Takes a frame from the application (section 6). What it cannot read, it ignores. */
function handleFrame(service: Service, chipid: string, text: string): void {
  const { type, body } = parseObject(text);
  if (type === 'msgpush' && typeof body === 'string' && decodeBase64(body))
    service.pushFromChannel(chipid, body);
}

function open(
  service: Service,
  log: RequestLog,
  socket: WebSocket,
  { chipid, wire }: Pick<Channel, 'chipid' | 'wire'>,
): void {
  const channel: Channel = { chipid, socket, wire };
  service.channels.add(channel);
  // A frame that breaks the protocol: ws closes by itself.
  socket.on('error', () => undefined);
  socket.on('close', () => service.channels.remove(channel));
  // Answered, as RFC 6455 asks: section 6 names heartbeats alone.
  socket.on('ping', (data) => {
    const mute = service.faults.areSilent(chipid);
    if (!mute && keepsUp(channel)) socket.pong(data);
  });
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary || !Buffer.isBuffer(data)) return;
    log.frame(chipid, data);
    handleFrame(service, chipid, data.toString('utf8'));
  });
}

/** Interface C: accepts upgrades and keeps the channels (section 4.3). */
export function createChannelServer(service: Service, log: RequestLog) {
  const sockets = new WebSocketServer({
    noServer: true,
    autoPong: false,
    maxPayload: MAX_PUSHED_FRAME,
    perMessageDeflate: false,
  });

  const connect = (
    request: IncomingMessage,
    wire: Duplex,
    head: Buffer,
    record: OpenRecord,
  ): void => {
    const chipid = admit(service, record);
    record.status = 400; // what ws answers if the handshake is no good
    sockets.handleUpgrade(request, wire, head, (socket: WebSocket) => {
      record.status = 101;
      open(service, log, socket, { chipid, wire });
    });
  };

  return (request: IncomingMessage, wire: Duplex, head: Buffer): void => {
    wire.on('error', () => undefined);
    const record = log.open(request);
    const aim = {
      path: record.path,
      concerns: (chipid: string) => new URLSearchParams(record.query).get('chipid') === chipid,
    };
    try {
      checkLocal(request.headers);
      const fault = service.faults.claimUpgrade(aim);
      if (fault) record.status = fault(wire);
      else connect(request, wire, head, record);
    } catch (error) {
      const { status, message } =
        error instanceof Refusal ? error : new Refusal(500, 'internal error');
      record.status = refuseUpgrade(wire, status, message);
    }
  };
}
