import WebSocket, { type ClientOptions } from 'ws';
import { errorCode } from '../http/exchange';
import { FlushQueue } from './flush';
import { Keepalive, type KeepaliveSettings, type KeptAlive, type PingAnswers } from './keepalive';

/** How one connection is made and kept alive. */
export interface ConnectionSettings extends KeepaliveSettings {
  /** Options of ws: TLS, proxy, headers. */
  socket: ClientOptions;
}

/** Called by one connection: `opened` at most once, `frame`, and `ended` once unless it is closed. */
export interface ConnectionEvents {
  opened(): void;
  frame(data: Buffer, isBinary: boolean): void;
  /**
   * @param reason HTTP status, error code or close code; never with a URL in it
   * @param openFor milliseconds it was open, 0 if it never was
   */
  ended(reason: string, openFor: number): void;
}

const HANDSHAKE_TIMEOUT = 15_000;
const GOING_AWAY = 1001;
const REFUSED = /Unexpected server response: (\d{3})/;
const ANSWERED_PING = /^\d{1,15}$/;

/** The largest frame that is read, in bytes. */
export const MAX_FRAME = 16 * 1024 * 1024;
/** Bytes waiting to be sent beyond which pings of the peer get no answer: it does not read them. */
const MAX_UNREAD = 64 * 1024;

/** Options that hold for every connection: small in memory, bounded in size and in time. */
const SOCKET_OPTIONS: ClientOptions & { closeTimeout: number } = {
  maxPayload: MAX_FRAME,
  perMessageDeflate: false,
  followRedirects: false,
  // One frame of a connection in each turn of the event loop. With all that a read has brought in one
  // turn, a peer that sends small frames at full speed stops timers and every other connection.
  allowSynchronousEvents: false,
  // A peer that does not end the connection after the closing handshake keeps it no longer than this.
  closeTimeout: 2000,
  autoPong: false,
};

const HEARTBEAT = JSON.stringify({ type: 'heartbeat' });

const ignore = (): void => undefined;

/** A reason without the text of a library, which may hold the signed URL. */
const reasonOf = (error: Error): string => REFUSED.exec(error.message)?.[1] ?? errorCode(error);

/** One WebSocket, from its handshake to its end: handshake deadline, heartbeats, pings, silence. */
export class Connection implements KeptAlive {
  readonly #socket: WebSocket;
  readonly #events: ConnectionEvents;
  readonly #answers: PingAnswers;
  readonly #keepalive: Keepalive;
  readonly #flushes: FlushQueue;
  // Of our own, since the one of ws counts from the connection, which a dead proxy never gives.
  readonly #handshakeTimer = setTimeout(() => this.#end('ETIMEDOUT'), HANDSHAKE_TIMEOUT);
  #reason: string | undefined;
  #openedAt: number | undefined;
  #closed = false;
  #pings = 0;

  /**
   * Opens it.
   * @param url with a fresh signature (section 4.3)
   * @param answers what the channel knows of the service's pongs
   * @throws the error of ws for an address that it does not take; its message contains the address
   */
  constructor(
    url: string,
    settings: ConnectionSettings,
    answers: PingAnswers,
    events: ConnectionEvents,
  ) {
    try {
      this.#socket = new WebSocket(url, { ...SOCKET_OPTIONS, ...settings.socket });
    } catch (error) {
      clearTimeout(this.#handshakeTimer);
      throw error;
    }
    this.#events = events;
    this.#answers = answers;
    this.#keepalive = new Keepalive(this, settings, answers);
    this.#flushes = new FlushQueue(() => this.ping(), answers, settings.ping > 0);
    this.#listen();
  }

  /** Whether what is sent now can arrive. */
  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
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

  /** @param flushed is called when everything that the peer has sent by now has arrived, or no longer can */
  flush(flushed: () => void): void {
    this.#flushes.add(flushed);
  }

  /** Ends it at once; no event is called from now on. */
  close(): void {
    this.#closed = true;
    this.#clear();
    this.#socket.close(GOING_AWAY);
    this.#socket.terminate();
  }

  #listen(): void {
    const socket = this.#socket;
    // First and for good: an error may come late, after the close.
    socket.on('error', (error) => {
      this.#reason ??= reasonOf(error);
    });
    socket.on('open', () => {
      clearTimeout(this.#handshakeTimer);
      this.#openedAt = performance.now();
      this.#keepalive.start();
      this.#events.opened();
    });
    socket.on('message', (data, isBinary) => {
      this.#heard();
      // What had arrived before the close is still read, in later turns.
      if (!this.#closed) this.#events.frame(data as Buffer, isBinary);
    });
    socket.on('ping', (data) => {
      this.#heard();
      if (socket.bufferedAmount < MAX_UNREAD) socket.pong(data, true, ignore);
    });
    socket.on('pong', (data) => {
      this.#heard();
      this.#pong(data.toString('latin1'));
    });
    socket.on('close', (code) => {
      this.#clear();
      if (this.#closed) return;
      const openFor = this.#openedAt === undefined ? 0 : performance.now() - this.#openedAt;
      this.#events.ended(this.#reason ?? String(code), openFor);
    });
  }

  #heard(): void {
    this.#keepalive.heard();
    this.#flushes.heard();
  }

  #pong(data: string): void {
    const ping = ANSWERED_PING.test(data) ? Number(data) : 0;
    // A pong may come unasked (RFC 6455, 5.5.3), and then says nothing about pings.
    if (ping < 1 || ping > this.#pings) return;
    this.#answers.answered();
    this.#flushes.pong(ping);
  }

  #end(reason: string): void {
    this.#reason = reason;
    this.#socket.terminate();
  }

  #clear(): void {
    clearTimeout(this.#handshakeTimer);
    this.#keepalive.clearTimers();
    this.#flushes.end();
  }
}
