import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { decodeBase64 } from '../util/decode';
import type { Device } from './device';
import type { Application, Dialect, Push } from './document';
import { readObject } from './encoding';
import { refuseUpgrade, type Channel, type Faults, type UploadEvent } from './faults';
import { checkLocal, integer, notFound, readParams, refusalOf, requireParam } from './http';
import {
  keep,
  LOGGED,
  logged,
  type FrameRecord,
  type OpenRecord,
  type UploadEntry,
} from './history';

/** Section 4.3; without a final `/`. */
export const CHANNEL_PATH = '/noticed/peer';

/** Assumed: the longest frame that an application may send, in bytes; a longer one closes the channel, 1009 (6). */
const LONGEST_FRAME = 16 * 1024 * 1024;

/** What channels need of their application. */
interface Hub extends Application {
  readonly dialect: Pick<Dialect, 'checkSign'>;
  readonly faults: Faults;
  readonly frames: FrameRecord[];
  device(chipid: string): Device;
  send(device: Device, push: Push): void;
}

/** Interface C: the open channels. */
export class Channels {
  readonly #service: Hub;
  readonly #open = new Set<Channel>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    autoPong: false,
    maxPayload: LONGEST_FRAME,
    perMessageDeflate: false,
  });

  constructor(service: Hub) {
    this.#service = service;
  }

  /** Accepts or refuses an upgrade (section 4.3). */
  upgrade(request: IncomingMessage, wire: Duplex, head: Buffer, record: OpenRecord): void {
    wire.on('error', () => undefined);
    try {
      checkLocal(request.headers);
      const names = () => new URLSearchParams(record.query).getAll('chipid');
      const fault = this.#service.faults.claim('upgrade', names, record.path);
      if (fault) {
        record.status = fault.run(wire);
        return;
      }
      const chipid = this.#admit(record);
      record.status = 400; // what ws answers if the handshake is no good
      this.#sockets.handleUpgrade(request, wire, head, (socket: WebSocket) => {
        record.status = 101;
        this.#add(socket, chipid, wire);
      });
    } catch (error) {
      const { status, message } = refusalOf(error);
      record.status = refuseUpgrade(wire, status, message);
    }
  }

  /** Announces an upload to the channels of its device. */
  announce({ chipid, bytes, at, type }: UploadEntry): void {
    const event: UploadEvent = {
      type,
      appid: this.#service.settings.appid,
      chipid,
      timestamp: String(Math.floor(at / 1000)),
      body: bytes.toString('base64'),
    };
    const frame = JSON.stringify(event);
    for (const channel of this.#of(chipid)) {
      const fault = this.#service.faults.claim('event', () => [chipid]);
      if (fault) fault.run(channel, event);
      else channel.socket.send(frame);
    }
  }

  /** Closes the channels of one device, or all. @param code 1006 cuts the connection: it cannot be sent */
  close(chipid: string | number | undefined, code: number): void {
    for (const { socket } of this.#of(chipid)) {
      if (code === 1006) socket.terminate();
      else socket.close(code);
    }
  }

  /** How many channels are open, of one device or in all. */
  count(chipid?: string | number): number {
    return this.#of(chipid).length;
  }

  #of(chipid: string | number | undefined): Channel[] {
    const all = [...this.#open];
    return chipid === undefined ? all : all.filter((each) => each.chipid === String(chipid));
  }

  /** Checks a request for a channel (section 4.3). @returns the chip number @throws Refusal */
  #admit({ path, query }: OpenRecord): string {
    if (path !== CHANNEL_PATH) throw notFound('there is no channel at this path');
    const params = readParams(query);
    const chipid = integer('chipid', requireParam(params, 'chipid'));
    const service = this.#service;
    service.dialect.checkSign(service, { method: 'get', query: params, params, of: 'channel' });
    return service.device(chipid).chipid;
  }

  #add(socket: WebSocket, chipid: string, wire: Duplex): void {
    const service = this.#service;
    if (service.settings.replace) {
      // Assumed: normal closure (6).
      for (const older of this.#of(chipid)) older.socket.close(1000);
    }
    const channel: Channel = { chipid, socket, wire };
    this.#open.add(channel);
    // A frame that breaks the protocol: ws closes by itself.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#open.delete(channel));
    // Answered, as RFC 6455 asks: section 6 names heartbeats alone.
    socket.on('ping', (data) => {
      if (!service.faults.areSilent(chipid)) socket.pong(data);
    });
    socket.on('message', (data: RawData, isBinary: boolean) => {
      if (isBinary || !Buffer.isBuffer(data)) return;
      keep(service.frames, { chipid, text: logged(data) }, LOGGED);
      const { type, body } = readObject(data.toString('utf8')) ?? {};
      if (type !== 'msgpush' || typeof body !== 'string') return;
      const bytes = decodeBase64(body);
      // Assumed: that it is Base64 is how the history labels it (2.4).
      const push = { via: 'channel', format: 'B64', message: body } as const;
      if (bytes) service.send(service.device(chipid), { ...push, bytes });
    });
  }
}
