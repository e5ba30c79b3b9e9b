import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { indexOf } from '../identity';
import { countInBase64, DEVICE_LIST, HISTORY, historyOf, uploadAround } from './readings';

/** Uploads in one write; a ping follows them, and its pong says that they have been read. */
const BLOCK = 16;
const PING = '\x89\x00';
/** First bytes of a frame of text with 126 to 65,535 bytes (RFC 6455, section 5.2). */
const textHeader = (length: number): string =>
  String.fromCharCode(0x81, 126, length >> 8, length & 0xff);

/** A device, which goes on uploading where it was when its last channel ended. */
class Device {
  sent = HISTORY;
  socket: Duplex | undefined;
  /** Blocks that were sent and not yet read, and how many of them may be. */
  unread = 0;
  window = 0;
  readonly #before: string;
  readonly #after: string;

  constructor(readonly index: number) {
    const [before, after] = uploadAround(index);
    this.#before = textHeader(before.length + countInBase64(0).length + after.length) + before;
    this.#after = after;
  }

  /** Frames are put together here, since a subject is measured that reads them: `ws` would be slower. */
  pump(): void {
    for (; this.unread < this.window; this.unread++) {
      let block = '';
      for (let each = 0; each < BLOCK; each++) {
        block += this.#before + countInBase64(this.sent++) + this.#after;
      }
      this.socket?.write(block + PING, 'latin1');
    }
  }
}

const HISTORY_PATH = /^\/openapi\/up_messages\/dev\/(\d+)\//;
const LIST_PATH = '/openapi/devices/list/';
const CHANNEL_PATH = /^\/noticed\/peer\?.*\bchipid=(\d+)/;

/** Serves histories and channels with any signature. */
export class ChannelServer {
  open = 0;
  ended = 0;
  histories = 0;
  readonly #devices = new Map<string, Device>();
  readonly #webSockets = new WebSocketServer({ noServer: true });

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const chipid = CHANNEL_PATH.exec(request.url ?? '')?.[1];
      if (chipid === undefined) socket.destroy();
      else this.#openChannel(this.#device(chipid), request, socket, head);
    });
  }

  readonly answer: RequestListener = (request, response) => {
    const chipid = HISTORY_PATH.exec(request.url ?? '')?.[1];
    if (request.url?.startsWith(LIST_PATH)) response.end(DEVICE_LIST);
    else if (chipid === undefined) response.writeHead(404).end('{"msg":"not found"}');
    else {
      this.histories++;
      response.end(historyOf(indexOf(chipid), this.#device(chipid).sent));
    }
  };

  /** Ends all channels at once, as a restart does. */
  drop(): void {
    for (const { socket } of this.#devices.values()) socket?.destroy();
  }

  /** Uploads on all channels, as fast as they are read. @returns how many uploads were sent */
  async flood(seconds: number, window: number): Promise<number> {
    const devices = this.#connected();
    const sent = (): number => devices.reduce((total, device) => total + device.sent, 0);
    const before = sent();
    for (const device of devices) {
      device.window = window;
      device.pump();
    }
    await sleep(seconds * 1000);
    for (const device of devices) device.window = 0;
    return sent() - before;
  }

  #connected(): Device[] {
    return [...this.#devices.values()].filter(({ socket }) => socket);
  }

  #device(chipid: string): Device {
    const device = this.#devices.get(chipid) ?? new Device(indexOf(chipid));
    this.#devices.set(chipid, device);
    return device;
  }

  #openChannel(device: Device, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#webSockets.handleUpgrade(request, socket, head, (channel) => {
      this.open++;
      device.socket = socket;
      device.unread = 0;
      channel.on('error', () => undefined);
      channel.on('pong', () => {
        device.unread--;
        device.pump();
      });
      channel.once('close', () => {
        this.open--;
        this.ended++;
        if (device.socket === socket) device.socket = undefined;
      });
    });
  }
}
