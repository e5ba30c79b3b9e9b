import type { Duplex } from 'node:stream';

/** What the simulator uses of a WebSocket of ws: users of this package need not install its types. */
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

/** Bytes: four of the longest frames. */
const MAX_UNREAD = 64 * 1024 * 1024;

/** Terminates a channel whose other side does not read. @returns whether it is still open */
export function keepsUp({ socket }: Channel): boolean {
  if (socket.bufferedAmount <= MAX_UNREAD) return true;
  socket.terminate();
  return false;
}

/** The event of an upload, `data_upload` (section 6) or `uart_trans`. Every field is a string. */
export interface UploadEvent {
  readonly type: string;
  readonly appid: string;
  readonly chipid: string;
  readonly timestamp: string;
  /** Base64 */
  readonly body: string;
}
