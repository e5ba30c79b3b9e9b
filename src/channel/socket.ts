import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ClientOptions } from 'ws';
import { errorCode } from '../http/exchange';
import { ChannelSocket, type SocketListener } from './channel-socket';
import { FlushQueue } from './flush';
import { Keepalive, type KeepaliveSettings, type KeptAlive, type PingAnswers } from './keepalive';
import type { TurnShare } from './turn-share';

/** The settings of a connection. */
export interface ConnectionSettings extends KeepaliveSettings {
  /** Options of ws: TLS, proxy, headers. */
  socket: ClientOptions;
  /** Shared by all channels of an application. */
  turns: TurnShare;
}

/** The callbacks of a connection: `opened` at most once, `frame`, and `ended` once unless it was closed. */
export interface ConnectionEvents {
  opened(): void;
  frame(data: Buffer, isBinary: boolean): void;
  /**
   * @param reason HTTP status, error code, close code, or what is wrong with the answer; never with a URL in it
   * @param openFor milliseconds it was open, 0 if it never was
   * @param refusal the headers of an answer that refused it
   */
  ended(reason: string, openFor: number, refusal?: IncomingHttpHeaders): void;
}

const HANDSHAKE_TIMEOUT = 15_000;
const GOING_AWAY = 1001;
const ANSWERED_PING = /^\d{1,15}$/;
/** Bytes waiting to be sent above which the peer's pings get no answer: it does not read them. */
const MAX_UNREAD = 64 * 1024;

/** What the errors of ws for an answer that does not open a channel are about. Such an error has no code. */
const HANDSHAKES: readonly (readonly [about: RegExp, reason: string])[] = [
  [/extension/i, 'EXTENSION'],
  [/subprotocol/i, 'SUBPROTOCOL'],
  [/\b(?:Upgrade|Accept) header/i, 'HANDSHAKE'],
];

/** Why a connection failed. Never the text of the error, which may contain the signed URL. */
function reasonOf(error: Error): string {
  const code = errorCode(error);
  if (code !== error.name) return code;
  return HANDSHAKES.find(([about]) => about.test(error.message))?.[1] ?? code;
}

const HEARTBEAT = JSON.stringify({ type: 'heartbeat' });

const ignore = (): void => undefined;

/** One WebSocket, from its handshake to its end: handshake deadline, heartbeats, pings, silence. */
export class Connection implements KeptAlive, SocketListener {
  readonly #socket: ChannelSocket;
  readonly #events: ConnectionEvents;
  readonly #answers: PingAnswers;
  readonly #turns: TurnShare;
  readonly #keepalive: Keepalive;
  readonly #watched: boolean;
  #flushes: FlushQueue | undefined;
  #handshakeTimer: NodeJS.Timeout | undefined;
  #reason: string | undefined;
  #refusal: IncomingHttpHeaders | undefined;
  #openedAt: number | undefined;
  #closed = false;
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
    this.#watched = settings.ping > 0;
    this.#keepalive = new Keepalive(this, settings, answers);
    // Not that of ws, which starts with the TCP connection: through a dead proxy there never is one.
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
    this.#flushes ??= new FlushQueue(this, this.#answers, this.#watched);
    this.#flushes.add(flushed);
  }

  /** Ends it at once; no event is called from now on. */
  close(): void {
    this.#closed = true;
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
    this.#clearHandshake();
    this.#openedAt = performance.now();
    this.#keepalive.start();
    this.#events.opened();
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    this.#heard();
    // Frames that had arrived before the close are still read, in later turns.
    if (!this.#closed) this.#events.frame(data, isBinary);
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
    this.#answers.answered();
    this.#flushes?.pong(ping);
    if (this.#flushes?.isEmpty) this.#flushes = undefined;
  }

  onClose(code: number): void {
    this.#clear();
    if (this.#closed) return;
    const openFor = this.#openedAt === undefined ? 0 : performance.now() - this.#openedAt;
    this.#events.ended(this.#reason ?? String(code), openFor, this.#refusal);
  }

  #heard(): void {
    this.#socket.readNext(this.#turns.acquire());
    this.#keepalive.heard();
    this.#flushes?.heard();
  }

  #end(reason: string): void {
    this.#reason = reason;
    this.#socket.terminate();
  }

  #clearHandshake(): void {
    clearTimeout(this.#handshakeTimer);
    this.#handshakeTimer = undefined;
  }

  #clear(): void {
    this.#clearHandshake();
    this.#keepalive.stop();
    this.#flushes?.end();
  }
}
