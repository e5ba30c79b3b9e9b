import type { ClientRequest, IncomingMessage } from 'node:http';
import WebSocket, { type ClientOptions, type RawData } from 'ws';

/** What a {@link ChannelSocket} calls. */
export interface SocketListener {
  onOpen(): void;
  /** The service has answered without opening it. The listener ends it. */
  onRefusal(answer: IncomingMessage): void;
  onMessage(data: Buffer, isBinary: boolean): void;
  onPing(data: Buffer): void;
  onPong(data: Buffer): void;
  onError(error: Error): void;
  onClose(code: number): void;
}

interface Listened {
  readonly listener: SocketListener;
}

/** Fields of ws that its types do not have. */
interface WithReceiver {
  readonly _receiver?: { _allowSynchronousEvents?: boolean };
}

/** The largest frame that is read, in bytes. */
export const MAX_FRAME = 16 * 1024 * 1024;

/**
 * Fragments of a message, and reads of a fragment, at most. Each costs some hundred bytes until the
 * message is whole, even an empty one: 16 MiB in single bytes would need gigabytes.
 */
const MAX_PARTS = 16 * 1024;

/** Options of every connection: they limit its memory, the size of its frames and its waits. */
const OPTIONS: ClientOptions & { closeTimeout: number } = {
  maxPayload: MAX_FRAME,
  maxFragments: MAX_PARTS,
  maxBufferedChunks: MAX_PARTS,
  perMessageDeflate: false,
  followRedirects: false,
  // If all frames of a read were handled in one turn of the event loop, a peer that sends small frames at
  // full speed would stop timers and every other connection. But a few may be read: see `readNext`.
  allowSynchronousEvents: false,
  // A peer that does not end the connection after the closing handshake keeps it no longer than this.
  closeTimeout: 2000,
  autoPong: false,
};

/**
 * A WebSocket with one listener. Its handlers are the same functions for all sockets, since closures
 * would cost each socket 64 bytes per event.
 */
export class ChannelSocket extends WebSocket implements Listened {
  /** @throws the error of ws for an invalid address; its message contains the address */
  constructor(
    url: string,
    options: ClientOptions,
    readonly listener: SocketListener,
  ) {
    super(url, { ...OPTIONS, ...options });
    // The handler of errors is never removed: one may come late, after the close.
    this.on('error', onError).on('open', onOpen).on('close', onClose);
    this.on('unexpected-response', onRefusal);
  }

  /**
   * Says, during an event, whether the next frame that has arrived is read in this turn of the event loop. ws has an option
   * for all frames or none, which its receiver looks up for each. If a later version does not, none is.
   */
  readNext(inThisTurn: boolean): void {
    const { _receiver: receiver } = this as unknown as WithReceiver;
    if (receiver) receiver._allowSynchronousEvents = inThisTurn;
  }
}

/** The types of ws say only that `this` is a WebSocket. */
const listenerOf = (socket: WebSocket): SocketListener => (socket as WebSocket & Listened).listener;

function onError(this: WebSocket, error: Error): void {
  listenerOf(this).onError(error);
}

function onRefusal(this: WebSocket, _request: ClientRequest, answer: IncomingMessage): void {
  listenerOf(this).onRefusal(answer);
}

/** Adds the other handlers only now: with a sixth event, the table of an emitter doubles its size. */
function onOpen(this: WebSocket): void {
  this.off('open', onOpen).off('unexpected-response', onRefusal);
  this.on('message', onMessage).on('ping', onPing).on('pong', onPong);
  listenerOf(this).onOpen();
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  listenerOf(this).onMessage(data as Buffer, isBinary);
}

function onPing(this: WebSocket, data: Buffer): void {
  listenerOf(this).onPing(data);
}

function onPong(this: WebSocket, data: Buffer): void {
  listenerOf(this).onPong(data);
}

function onClose(this: WebSocket, code: number): void {
  listenerOf(this).onClose(code);
}
