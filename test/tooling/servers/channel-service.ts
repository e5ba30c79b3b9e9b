import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { WebSocketServer, type WebSocket } from 'ws';
import { atEnd } from './at-end';
import type { Certificate } from './certs';
import { onLoopback } from './loopback';

/** A server of channels on loopback that does as a script says. */
export interface ChannelService {
  baseUrl: string;
  port: number;
  /** The address of each upgrade, as sent. */
  urls: string[];
  /** The headers of each upgrade. */
  headers: IncomingMessage['headers'][];
  /** Every text frame that came. */
  frames: string[];
  /** How many channels ever opened. */
  readonly opened: () => number;
  /** The channels that are open. */
  clients: ReadonlySet<WebSocket>;
  /** How many TCP connections are open. */
  readonly sockets: () => number;
}

/** @param count how many channels opened before this one */
export type OnChannel = (channel: WebSocket, count: number) => void;

async function start(onChannel: OnChannel, certificate?: Certificate): Promise<ChannelService> {
  const urls: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const frames: string[] = [];
  let opened = 0;
  const server = certificate ? createTlsServer(certificate) : createHttpServer();
  const channels = new WebSocketServer({ server, autoPong: true });
  channels.on('connection', (channel, request) => {
    urls.push(request.url ?? '');
    headers.push(request.headers);
    channel.on('error', () => undefined);
    channel.on('message', (data: Buffer) => frames.push(data.toString('utf8')));
    onChannel(channel, opened++);
  });
  const { port, sockets, close } = await onLoopback(server);
  atEnd(close);
  return {
    baseUrl: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    urls,
    headers,
    frames,
    opened: () => opened,
    clients: channels.clients,
    sockets,
  };
}

export const channelService = (onChannel: OnChannel = () => undefined): Promise<ChannelService> =>
  start(onChannel);

export const tlsChannelService = (certificate: Certificate): Promise<ChannelService> =>
  start(() => undefined, certificate);
