import type { Duplex } from 'node:stream';
import type { Faults } from './faults';
import type { UploadEntry } from './history';
import type { Settings } from './options';

/** What is needed of a WebSocket of ws, whose types would otherwise have to be installed with this package. */
export interface ChannelSocket {
  /** Bytes that wait for the other side to read. */
  readonly bufferedAmount: number;
  send(data: string | Buffer): void;
  close(code?: number): void;
  terminate(): void;
}

/** One open WebSocket (section 4.3). A device may have several. */
export interface Channel {
  readonly chipid: string;
  readonly socket: ChannelSocket;
  /** The connection below it. */
  readonly wire: Duplex;
}

/** Four of the longest frames. */
const MAX_UNREAD = 64 * 1024 * 1024;

/** Breaks a channel off whose other side does not read. @returns whether it is still open */
export function keepsUp({ socket }: Channel): boolean {
  if (socket.bufferedAmount <= MAX_UNREAD) return true;
  socket.terminate();
  return false;
}

/** The event `data_upload` (section 6). Every field is a string. */
export interface UploadEvent {
  readonly type: string;
  readonly appid: string;
  readonly chipid: string;
  readonly timestamp: string;
  /** Base64 */
  readonly body: string;
}

/** How channels are closed. */
export interface CloseOptions {
  /** Close code, default 1001. */
  code?: number;
  /** Breaks the connection off without a closing handshake: the other side sees 1006. */
  terminate?: boolean;
}

/** The open channels. */
export interface Channels {
  add(channel: Channel): void;
  remove(channel: Channel): void;
  /** Sends an upload to every channel of its device. */
  announce(upload: UploadEntry): void;
  /** Closes the channels of one device, or all. */
  close(chipid: string | undefined, options: CloseOptions): void;
  count(chipid: string | undefined): number;
}

export function createChannels(settings: Settings, faults: Faults): Channels {
  const channels = new Set<Channel>();
  const of = (chipid: string | undefined): Channel[] =>
    [...channels].filter((channel) => chipid === undefined || channel.chipid === chipid);

  const eventOf = ({ chipid, bytes, at }: UploadEntry): UploadEvent => ({
    type: 'data_upload',
    appid: settings.appid,
    chipid,
    timestamp: String(settings.eventTimestamp === 's' ? Math.floor(at / 1000) : Math.floor(at)),
    body: bytes.toString('base64'),
  });

  return {
    add: (channel) => void channels.add(channel),
    remove: (channel) => void channels.delete(channel),
    announce(upload) {
      const event = eventOf(upload);
      const frame = JSON.stringify(event);
      for (const channel of of(upload.chipid).filter(keepsUp)) {
        const fault = faults.takeEvent(channel.chipid);
        if (fault) fault(channel, event);
        else channel.socket.send(frame);
      }
    },
    close(chipid, { code = 1001, terminate = false }) {
      for (const { socket } of of(chipid)) {
        // No side can send 1006: it stands for a connection that broke off.
        if (terminate || code === 1006) socket.terminate();
        else socket.close(code);
      }
    },
    count: (chipid) => of(chipid).length,
  };
}
