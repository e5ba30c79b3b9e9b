import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { createConnection } from 'node:net';
import WebSocket, { type ClientOptions, type RawData } from 'ws';
import { errorCode } from '../http/failures';
import {
  FlushQueue,
  Keepalive,
  type KeepaliveSettings,
  type PingAnswers,
  type Pinger,
} from './keepalive';

/** Some options of ws, in types of Node.js alone: the declarations of this package must not need the types of ws. */
export interface SocketOptions {
  headers?: Record<string, string>;
  /** Milliseconds for each address of a name. */
  autoSelectFamilyAttemptTimeout?: number;
  /** Over TLS or through a proxy. */
  createConnection?: typeof createConnection;
}

export interface ConnectionSettings extends KeepaliveSettings {
  socket: SocketOptions;
  /** Shared by all channels of an application. */
  turns: TurnShare;
}

/** The callbacks of a connection: `opened` at most once, `frame`, and `ended` once unless it was closed. */
export interface ConnectionEvents {
  opened(): void;
  frame(data: Buffer, isBinary: boolean): void;
  /**
   * @param reason HTTP status, error code, close code, or the fault of the answer; never with a URL in it
   * @param openFor milliseconds it was open, 0 if it never was
   * @param refusal the headers of an answer that refused it
   */
  ended(reason: string, openFor: number, refusal?: IncomingHttpHeaders): void;
}

/** Frames that the connections of an application read before one that has read more waits for the next turn of the event loop. */
const BEFORE_A_TURN = 16;

/** Decides who reads on in the same turn of the event loop, so that a flood stops neither timers nor other connections. */
export class TurnShare {
  #left = BEFORE_A_TURN;

  /** @returns whether the connection may read more in this turn than it has read at once */
  acquire(): boolean {
    if (this.#left === 0) return false;
    if (--this.#left === 0) setImmediate(() => (this.#left = BEFORE_A_TURN));
    return true;
  }
}

/**
 * The largest frame that is read, in bytes. A change needs one of {@link MAX_PARTS}, too: a read has a kilobyte or two. What
 * has to hold a frame has limits of its own: `MAX_RECORD` (recovery/reader.ts).
 */
export const MAX_FRAME = 16 * 1024 * 1024;

/**
 * Fragments of a message, and reads of a fragment, at most. Each costs some hundred bytes until the
 * message is whole, even an empty one: 16 MiB in single bytes would need gigabytes.
 */
export const MAX_PARTS = 16 * 1024;

/** Options of every connection: they limit its memory, the size of its frames and its waits. */
const OPTIONS: ClientOptions & { closeTimeout: number } = {
  maxPayload: MAX_FRAME,
  maxFragments: MAX_PARTS,
  maxBufferedChunks: MAX_PARTS,
  perMessageDeflate: false,
  followRedirects: false,
  // A peer that does not end the connection after the closing handshake keeps it no longer than this.
  closeTimeout: 2000,
  autoPong: false,
};

const HANDSHAKE_TIMEOUT = 15_000;
const GOING_AWAY = 1001;
const ANSWERED_PING = /^\d{1,15}$/;
/** Bytes waiting to be sent above which the peer's pings get no answer: it does not read them. */
const MAX_UNREAD = 64 * 1024;

/**
 * Why a connection failed. Never the text of the error, which may contain the signed URL. The errors of ws for an answer that
 * does not open a channel have no code.
 */
function reasonOf(error: Error): string {
  const code = errorCode(error);
  return code === error.name ? 'HANDSHAKE' : code;
}

const HEARTBEAT = JSON.stringify({ type: 'heartbeat' });

const ignore = (): void => undefined;

/** One WebSocket, from its handshake to its end: handshake deadline, heartbeats, pings, silence. */
export class Connection implements Pinger {
  readonly #socket: ChannelSocket;
  readonly #events: ConnectionEvents;
  readonly #answers: PingAnswers;
  readonly #turns: TurnShare;
  readonly #keepalive: Keepalive;
  readonly #isWatched: boolean;
  #flushes: FlushQueue | undefined;
  #handshakeTimer: NodeJS.Timeout | undefined;
  #reason: string | undefined;
  #refusal: IncomingHttpHeaders | undefined;
  #openedAt: number | undefined;
  #isClosed = false;
  #pings = 0;

  /**
   * Opens it.
   * @param url with a fresh signature (section 4.3)
   * @param answers what the channel knows of the service's pongs
   * @throws the error of ws for an invalid address; its message contains the address
   */
  constructor(
    url: string,
    settings: ConnectionSettings,
    answers: PingAnswers,
    events: ConnectionEvents,
  ) {
    this.#socket = new ChannelSocket(url, settings.socket, this);
    this.#events = events;
    this.#answers = answers;
    this.#turns = settings.turns;
    this.#isWatched = settings.ping > 0;
    this.#keepalive = new Keepalive(this, settings, answers);
    // Not the timeout of ws, which starts with the TCP connection: through a dead proxy there never is one.
    this.#handshakeTimer = setTimeout(() => this.#end('ETIMEDOUT'), HANDSHAKE_TIMEOUT);
  }

  /** Whether what is sent now can arrive. */
  get isOpen(): boolean {
    return this.#socket.readyState === ChannelSocket.OPEN;
  }

  send(text: string, sent: (error?: Error) => void): void {
    this.#socket.send(text, sent);
  }

  sendHeartbeat(): void {
    this.#socket.send(HEARTBEAT, ignore);
  }

  /** @returns the number of the ping, which its pong repeats */
  ping(): number {
    this.#socket.ping(String(++this.#pings), true, ignore);
    return this.#pings;
  }

  silent(): void {
    this.#end('SILENT');
  }

  /** @param flushed is called once everything that the peer has sent so far has arrived, or can no longer arrive */
  flush(flushed: () => void): void {
    this.#flushes ??= new FlushQueue(this, this.#answers, this.#isWatched);
    this.#flushes.add(flushed);
  }

  /** Ends it at once; no event is called from now on. */
  close(): void {
    this.#isClosed = true;
    this.#clear();
    this.#socket.close(GOING_AWAY);
    this.#socket.terminate();
  }

  onError(error: Error): void {
    this.#reason ??= reasonOf(error);
  }

  onRefusal({ statusCode, headers }: IncomingMessage): void {
    this.#refusal = headers;
    this.#end(String(statusCode));
  }

  onOpen(): void {
    clearTimeout(this.#handshakeTimer);
    // A timer that has ended would keep its memory as long as the connection lives.
    this.#handshakeTimer = undefined;
    this.#openedAt = performance.now();
    this.#keepalive.start();
    this.#events.opened();
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    this.#heard();
    // Frames that had arrived before the close are still read, in later turns.
    if (!this.#isClosed) this.#events.frame(data, isBinary);
  }

  onPing(data: Buffer): void {
    this.#heard();
    if (this.#socket.bufferedAmount < MAX_UNREAD) this.#socket.pong(data, true, ignore);
  }

  onPong(data: Buffer): void {
    this.#heard();
    const text = data.toString('latin1');
    const ping = ANSWERED_PING.test(text) ? Number(text) : 0;
    // An unsolicited pong (RFC 6455, 5.5.3) says nothing about pings.
    if (ping < 1 || ping > this.#pings) return;
    this.#answers.areExpected = true;
    this.#flushes?.pong(ping);
  }

  onClose(code: number): void {
    this.#clear();
    if (this.#isClosed) return;
    const openFor = this.#openedAt === undefined ? 0 : performance.now() - this.#openedAt;
    this.#events.ended(this.#reason ?? String(code), openFor, this.#refusal);
  }

  #heard(): void {
    if (!this.#turns.acquire() && !this.#socket.isPaused) {
      this.#socket.pause();
      setImmediate(() => this.#socket.resume());
    }
    this.#keepalive.hasHeard = true;
    if (this.#flushes) this.#flushes.hasHeard = true;
  }

  #end(reason: string): void {
    this.#reason = reason;
    this.#socket.terminate();
  }

  #clear(): void {
    clearTimeout(this.#handshakeTimer);
    this.#keepalive.stop();
    this.#flushes?.end();
  }
}

/**
 * The WebSocket of a connection. Its handlers are the same functions for all sockets, since closures would cost each
 * socket 64 bytes per event.
 */
class ChannelSocket extends WebSocket {
  constructor(
    url: string,
    options: SocketOptions,
    readonly connection: Connection,
  ) {
    super(url, { ...OPTIONS, ...options });
    // The handler of errors is never removed: one may come late, after the close.
    this.on('error', onError).on('open', onOpen).on('close', onClose);
    this.on('unexpected-response', onRefusal);
  }
}

/** The types of ws say only that `this` is a WebSocket. */
const connectionOf = (socket: WebSocket): Connection => (socket as ChannelSocket).connection;

function onError(this: WebSocket, error: Error): void {
  connectionOf(this).onError(error);
}

function onRefusal(this: WebSocket, _request: ClientRequest, answer: IncomingMessage): void {
  connectionOf(this).onRefusal(answer);
}

/** Adds the other handlers only now: with a sixth event, the table of an emitter doubles its size. */
function onOpen(this: WebSocket): void {
  this.off('open', onOpen).off('unexpected-response', onRefusal);
  this.on('message', onMessage).on('ping', onPing).on('pong', onPong);
  connectionOf(this).onOpen();
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  connectionOf(this).onMessage(data as Buffer, isBinary);
}

function onPing(this: WebSocket, data: Buffer): void {
  connectionOf(this).onPing(data);
}

function onPong(this: WebSocket, data: Buffer): void {
  connectionOf(this).onPong(data);
}

function onClose(this: WebSocket, code: number): void {
  connectionOf(this).onClose(code);
}
