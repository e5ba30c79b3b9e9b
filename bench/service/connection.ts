import type { Socket } from 'node:net';
import { chipidOf } from '../identity';
import { openChannel, switchProtocols, type Channel } from './channel';
import type { countConnects } from './connects';
import type { countPushes } from './pushes';
import { HISTORY, historyOf } from './readings';
import { headerOf, notFound, okay, readRequests, wantsClose, type Request } from './requests';

/** What the connections of the service share. */
export interface Shared {
  pushes: ReturnType<typeof countPushes>;
  connects: ReturnType<typeof countConnects>;
  /** Open channels, by device. */
  channels: Map<number, Channel>;
  /** Uploads of each device so far. */
  uploads: Map<number, number>;
}

const PUSH_PATH = '/openapi/dev/push/message/';
const HISTORY_PATH = /^\/openapi\/up_messages\/dev\/(\d+)\//;
const CHANNEL_PATH = /^\/noticed\/peer\?.*\bchipid=(\d+)/;

const REFUSED = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 18\r\n\r\n{"msg":"bad sign"}';

const deviceOf = (chipid: string): number => Number(chipid) - Number(chipidOf(0));

function answer({ pushes, channels, uploads }: Shared, request: Request): string {
  if (request.target.startsWith(PUSH_PATH))
    return pushes.take(request) ? okay('{"msg":"OK"}') : REFUSED;
  const chipid = HISTORY_PATH.exec(request.target)?.[1];
  if (chipid === undefined) return notFound();
  const device = deviceOf(chipid);
  const count = channels.get(device)?.sent ?? uploads.get(device) ?? HISTORY;
  return okay(historyOf(device, count));
}

function upgrade(shared: Shared, socket: Socket, device: number, key: string): void {
  const { channels, uploads, connects } = shared;
  socket.write(switchProtocols(key));
  const channel = openChannel(socket, device, uploads.get(device) ?? HISTORY);
  channels.set(device, channel);
  connects.opened();
  socket.once('close', () => {
    connects.ended();
    uploads.set(device, channel.sent);
    if (channels.get(device) === channel) channels.delete(device);
  });
}

/** Serves one connection: pushes, histories and channels, and no more than that. */
export function serveConnection(shared: Shared, socket: Socket): void {
  // A contender that is ended leaves its connections broken.
  socket.on('error', () => undefined);
  readRequests(socket, (request) => {
    const chipid = CHANNEL_PATH.exec(request.target)?.[1];
    if (chipid === undefined) {
      socket.write(answer(shared, request));
      if (wantsClose(request)) socket.end();
      return true;
    }
    upgrade(shared, socket, deviceOf(chipid), headerOf(request, 'sec-websocket-key'));
    return false;
  });
}
