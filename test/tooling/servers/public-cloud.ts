import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebSocketServer, type WebSocket } from 'ws';
import { atEnd } from './at-end';
import { onLoopback } from './loopback';
import { APPID as PUBLIC_APPID, APPKEY as PUBLIC_KEY, refusalOf } from './public-service';

export { PUBLIC_APPID, PUBLIC_KEY };

const BEIJING = 8 * 60 * 60_000;

/** An upload as it is kept. */
export interface Kept {
  chipid: string;
  body: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** Lists, histories and channels on loopback that answer as the public server of 2016 does. */
export interface PublicCloud {
  baseUrl: string;
  appid: string;
  /** The online devices, in the order of the list; one may be there twice. */
  online: { chipid: number; latest: string }[];
  uploads: Kept[];
  /** Bodies of the history of pushes, as they are written. */
  pushes: string[];
  /** The paths of all requests. */
  paths: string[];
  /** Milliseconds that its clock is ahead. */
  ahead: number;
  /** How many channels of a device were opened. */
  opened: (chipid: string) => number;
  /** The channel of a device: a newer one replaces it. */
  channels: Map<string, WebSocket>;
  /** Sends an event on the channel of a device. */
  send: (chipid: string, body: Buffer, type?: string) => void;
  /** What came over the channels, decoded. */
  received: Buffer[];
  sockets: () => number;
  close: () => Promise<void>;
}

/** `YYYY-MM-DD HH:MM:SS` in UTC. */
const printed = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
/** Midnight in Beijing. */
const midnight = (day: string): number =>
  Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6))) - BEIJING;

export async function publicCloud(): Promise<PublicCloud> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const opened = new Map<string, number>();

  const refusal = (method: string, params: URLSearchParams): string | undefined =>
    refusalOf(method, Object.fromEntries(params), Date.now() + cloud.ahead);

  function answer(path: string): { status: number; body: unknown } {
    const [name, first = '', second = ''] = path.replace(/^\/openapi\//, '').split('/');
    const ok = (body: unknown): { status: number; body: unknown } => ({ status: 200, body });
    const record = ({ chipid, body, at }: Kept, id: number): object => ({
      ...{ id, body, app: 'Public', chipid, dev: chipid },
      ...{ create_time: printed(at), recv_time: printed(at) },
    });
    const newestFirst = (from: number, to: number): object[] =>
      cloud.uploads
        .filter(({ at }) => at >= from && at < to)
        .map(record)
        .reverse();
    if (name === 'apps') return ok({ name: 'Public', online: cloud.online });
    if (name === 'dev') return ok({ msg: 'OK' });
    if (name === 'devices' && first === 'lists') return ok(cloud.online);
    if (name === 'sync') return ok(newestFirst(midnight(first), midnight(second)));
    if (name === 'up_messages') return ok(newestFirst(-Infinity, Infinity));
    if (name === 'push_messages')
      return ok(
        cloud.pushes.map((body, id) => ({
          ...{ id: String(id), body, msgtype: '文本', dev: second },
          create_time: printed(Date.UTC(2016, 5, 23, 9)),
        })),
      );
    return { status: 404, body: undefined };
  }

  server.on('request', (request, response) => {
    void text(request).then((form) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://here');
      cloud.paths.push(pathname);
      for (const [name, value] of new URLSearchParams(form)) searchParams.set(name, value);
      const refused = refusal(request.method ?? '', searchParams);
      const { status, body } = refused ? { status: 400, body: { msg: refused } } : answer(pathname);
      response.writeHead(status, { date: new Date(Date.now() + cloud.ahead).toUTCString() });
      response.end(body === undefined ? '<h1>Not Found</h1>' : JSON.stringify(body));
    });
  });
  server.on('upgrade', (request, socket, head) => {
    const { searchParams } = new URL(request.url ?? '', 'http://here');
    if (refusal('get', searchParams)) {
      socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const chipid = searchParams.get('chipid') ?? '';
    sockets.handleUpgrade(request, socket, head, (channel) => {
      opened.set(chipid, (opened.get(chipid) ?? 0) + 1);
      cloud.channels.get(chipid)?.close();
      cloud.channels.set(chipid, channel);
      channel.on('error', () => undefined);
      channel.on('message', (data: Buffer) => {
        const event = JSON.parse(data.toString('utf8')) as { type: string; body?: string };
        if (event.type === 'msgpush') cloud.received.push(Buffer.from(event.body ?? '', 'base64'));
      });
    });
  });

  const { port, sockets: connections, close } = await onLoopback(server);
  const cloud: PublicCloud = {
    ...{ baseUrl: `http://127.0.0.1:${port}`, appid: PUBLIC_APPID, ahead: 0 },
    ...{ online: [], uploads: [], pushes: [], paths: [], received: [], channels: new Map() },
    opened: (chipid) => opened.get(chipid) ?? 0,
    send(chipid, body, type = 'data_upload') {
      const timestamp = String(Math.floor((Date.now() + cloud.ahead) / 1000));
      const event = { appid: PUBLIC_APPID, body: body.toString('base64'), chipid, timestamp, type };
      cloud.channels.get(chipid)?.send(JSON.stringify(event));
    },
    ...{ sockets: connections, close },
  };
  atEnd(close);
  return cloud;
}
