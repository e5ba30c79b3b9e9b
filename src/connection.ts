import WebSocket, { type ClientOptions } from 'ws';
import { errorCode } from './exchange';
import { createFences } from './fences';
import { startHeartbeat } from './heartbeat';
import { watchLiveness, type Liveness } from './liveness';

/** How one connection is made and kept alive. */
export interface ConnectionSettings {
  /** Options of ws: TLS, proxy, headers. */
  socket: ClientOptions;
  /** Seconds between two heartbeat messages; 0 is off. */
  heartbeat: number;
  /** Seconds between two pings; 0 is off. */
  ping: number;
  random: () => number;
}

/** What one connection tells: `opened` at most once, frames, and `ended` once unless it is closed. */
export interface ConnectionEvents {
  opened(): void;
  frame(data: WebSocket.RawData, isBinary: boolean): void;
  /**
   * @param reason HTTP status, error code or close code; never with a URL in it
   * @param openFor milliseconds it was open, 0 if it never was
   */
  ended(reason: string, openFor: number): void;
}

/** One WebSocket, from its handshake to its end. */
export interface Connection {
  send(text: string, sent: (error?: Error) => void): void;
  /** Tells when everything that the peer has sent by now has arrived, or can no longer arrive. */
  fence(passed: () => void): void;
  /** Ends it at once; `ended` is not called. */
  close(): void;
}

const HANDSHAKE_TIMEOUT = 15_000;
const GOING_AWAY = 1001;
const REFUSED = /Unexpected server response: (\d{3})/;

/** Options that hold for every connection: small in memory, bounded in size. */
const SOCKET_OPTIONS: ClientOptions = {
  maxPayload: 1024 * 1024,
  perMessageDeflate: false,
  followRedirects: false,
};

const HEARTBEAT = JSON.stringify({ type: 'heartbeat' });

/** A reason without the text of a library, which may hold the signed URL. */
const reasonOf = (error: Error): string => REFUSED.exec(error.message)?.[1] ?? errorCode(error);

/**
 * Opens a WebSocket and watches over it: handshake deadline, heartbeats, pings, silence.
 * @param url with a fresh signature (section 4.3)
 * @throws what ws throws at an address it can't take; its message holds the address
 */
export function openConnection(
  url: string,
  settings: ConnectionSettings,
  events: ConnectionEvents,
): Connection {
  const socket = new WebSocket(url, { ...SOCKET_OPTIONS, ...settings.socket });
  let reason: string | undefined;
  let openedAt: number | undefined;
  let liveness: Liveness | undefined;
  let stopHeartbeat: (() => void) | undefined;
  let closed = false;
  // Not answered in time, a ping of a fence ends the connection no sooner than any other.
  const fences = createFences((data) => socket.ping(data), settings.ping > 0);

  const end = (why: string): void => {
    reason = why;
    socket.terminate();
  };

  // Of our own, since the one of ws counts from the connection, which a dead proxy never gives.
  const handshake = setTimeout(end, HANDSHAKE_TIMEOUT, 'ETIMEDOUT');

  const quiet = (): void => {
    clearTimeout(handshake);
    liveness?.stop();
    stopHeartbeat?.();
    fences.end();
  };

  const alive = (): void => {
    liveness?.alive();
    fences.heard();
  };

  // First and for good: an error may come late, after the close.
  socket.on('error', (error) => {
    reason ??= reasonOf(error);
  });
  socket.on('open', () => {
    clearTimeout(handshake);
    openedAt = performance.now();
    liveness = watchLiveness(
      { ping: () => socket.ping(), dead: () => end('SILENT') },
      settings.ping,
      settings.random,
    );
    stopHeartbeat = startHeartbeat(
      () => socket.send(HEARTBEAT, () => undefined),
      settings.heartbeat,
      settings.random,
    );
    events.opened();
  });
  socket.on('message', (data, isBinary) => {
    alive();
    events.frame(data, isBinary);
  });
  socket.on('ping', alive);
  socket.on('pong', (data) => {
    alive();
    fences.pong(data.toString('latin1'));
  });
  socket.on('close', (code) => {
    quiet();
    if (closed) return;
    const openFor = openedAt === undefined ? 0 : performance.now() - openedAt;
    events.ended(reason ?? String(code), openFor);
  });

  return {
    send: (text, sent) => socket.send(text, sent),
    fence: (passed) => fences.add(passed),
    close() {
      closed = true;
      quiet();
      socket.close(GOING_AWAY);
      socket.terminate();
    },
  };
}
