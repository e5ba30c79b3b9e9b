import WebSocket, { type ClientOptions } from 'ws';
import { backoff } from './backoff';
import type { ConnectRate } from './connect-rate';
import { errorCode } from './exchange';
import { createFences } from './fences';
import { startHeartbeat } from './heartbeat';
import { watchLiveness, type Liveness } from './liveness';
import { readFrame, type Upload } from './upload-event';

export type ChannelState = 'connecting' | 'connected' | 'disconnected';

/** Who listens on a channel or pushes over it. Nothing here may throw. */
export interface ChannelUser {
  onUpload?(upload: Upload): void;
  /** @param reason why a connection ended or did not come about; never with a URL in it */
  onState?(state: ChannelState, reason?: string): void;
  /** Something came that is not what section 6 describes; it was left out. */
  onFault?(fault: string): void;
}

/** Everything a channel needs from its application. */
export interface ChannelSettings {
  /** The address with a fresh signature (section 4.3). */
  url: (chipid: string) => string;
  /** Options of ws: TLS, proxy, headers. */
  socket: ClientOptions;
  /** Seconds between two heartbeat messages; 0 is off. */
  heartbeat: number;
  /** Seconds between two pings; 0 is off. */
  ping: number;
  rate: ConnectRate;
  random: () => number;
  /** Ends what is on its way below the sockets. */
  close?(): void;
}

/** The channel of one device, kept open until it is closed. */
export interface Channel {
  readonly state: ChannelState;
  /** Why the channel is not connected, if it is known. */
  readonly reason: string | undefined;
  readonly users: Set<ChannelUser>;
  /** Sends data to the device (section 6, `msgpush`). @returns false if the channel is not connected */
  push(bytes: Buffer, sent: (error?: Error) => void): boolean;
  /** Tells when everything that the peer has sent by now has arrived, or can no longer arrive. */
  fence(passed: () => void): void;
  close(): void;
}

const HANDSHAKE_TIMEOUT = 15_000;
const BACKOFF_BASE = 1000;
const BACKOFF_CAP = 60_000;
/** A connection that held so long was a good one: the next back-off begins anew. */
const STABLE = 60_000;
const GOING_AWAY = 1001;
const REFUSED = /Unexpected server response: (\d{3})/;

/** Options that hold for every channel: small in memory, bounded in time and size. */
export const SOCKET_OPTIONS: ClientOptions = {
  handshakeTimeout: HANDSHAKE_TIMEOUT,
  maxPayload: 1024 * 1024,
  perMessageDeflate: false,
  followRedirects: false,
};

const HEARTBEAT = JSON.stringify({ type: 'heartbeat' });

/** A reason without the text of a library, which may hold the signed URL. */
function reasonOf(error: Error): string {
  const status = REFUSED.exec(error.message)?.[1];
  return status ?? errorCode(error);
}

/** Opens the channel of one device and keeps it open: every end but `close` leads to a new attempt. */
export function openChannel(chipid: string, settings: ChannelSettings): Channel {
  const users = new Set<ChannelUser>();
  let state: ChannelState = 'connecting';
  let reason: string | undefined;
  let socket: WebSocket | undefined;
  let timer: NodeJS.Timeout | undefined;
  let attempts = 0;
  let openedAt = 0;
  let liveness: Liveness | undefined;
  let stopHeartbeat: (() => void) | undefined;
  let closed = false;
  // Not answered in time, a ping of a fence ends the connection no sooner than any other.
  const fences = createFences((data) => socket?.ping(data), settings.ping > 0);

  const become = (next: ChannelState): void => {
    state = next;
    for (const user of users) user.onState?.(next, reason);
  };

  const alive = (): void => {
    liveness?.alive();
    fences.heard();
  };

  const onFrame = (data: WebSocket.RawData, isBinary: boolean): void => {
    alive();
    const frame = isBinary
      ? { fault: 'a frame is binary' }
      : readFrame((data as Buffer).toString('utf8'), chipid);
    if ('upload' in frame) deliver(frame.upload);
    else if ('fault' in frame) for (const user of users) user.onFault?.(frame.fault);
  };

  const deliver = (upload: Upload): void => {
    let shared = false;
    for (const user of users) {
      if (!user.onUpload) continue;
      // The first gets the bytes themselves; a further one its own, since a flow may change them.
      user.onUpload(shared ? { ...upload, body: Buffer.from(upload.body) } : upload);
      shared = true;
    }
  };

  const onOpen = (opened: WebSocket): void => {
    clearTimeout(timer);
    openedAt = performance.now();
    reason = undefined;
    liveness = watchLiveness(
      { ping: () => opened.ping(), dead: () => end(opened, 'SILENT') },
      settings.ping,
      settings.random,
    );
    stopHeartbeat = startHeartbeat(
      () => opened.send(HEARTBEAT, () => undefined),
      settings.heartbeat,
      settings.random,
    );
    become('connected');
  };

  const end = (ended: WebSocket, why: string): void => {
    reason = why;
    ended.terminate();
  };

  const quiet = (): void => {
    clearTimeout(timer);
    liveness?.stop();
    stopHeartbeat?.();
    liveness = undefined;
    stopHeartbeat = undefined;
    fences.end();
  };

  const onClose = (code: number): void => {
    quiet();
    socket = undefined;
    if (closed) return;
    reason ??= String(code);
    if (openedAt > 0 && performance.now() - openedAt >= STABLE) attempts = 0;
    openedAt = 0;
    const delay =
      reason === '401' || reason === '403'
        ? // Keys do not mend themselves: no hurry, and no load on the service.
          BACKOFF_CAP * (0.5 + 0.5 * settings.random())
        : backoff(attempts++, BACKOFF_BASE, BACKOFF_CAP, settings.random);
    timer = setTimeout(attempt, delay);
    become('disconnected');
  };

  const connect = (): void => {
    let opening: WebSocket;
    try {
      opening = new WebSocket(settings.url(chipid), { ...SOCKET_OPTIONS, ...settings.socket });
    } catch (error) {
      reason = error instanceof Error ? error.name : 'unknown error';
      onClose(0);
      return;
    }
    socket = opening;
    reason = undefined;
    // First and for good: an error may come late, after the close.
    opening.on('error', (error) => {
      reason ??= reasonOf(error);
    });
    opening.on('open', () => onOpen(opening));
    opening.on('message', onFrame);
    opening.on('ping', alive);
    opening.on('pong', (data) => {
      alive();
      fences.pong(data.toString('latin1'));
    });
    opening.on('close', onClose);
    // Of our own, since the one of ws counts from the connection, which a dead proxy never gives.
    timer = setTimeout(end, HANDSHAKE_TIMEOUT, opening, 'ETIMEDOUT');
  };

  function attempt(): void {
    timer = setTimeout(connect, settings.rate.take());
    become('connecting');
  }

  attempt();
  return {
    users,
    get state() {
      return state;
    },
    get reason() {
      return reason;
    },
    push(bytes, sent) {
      if (!socket || state !== 'connected') return false;
      socket.send(JSON.stringify({ type: 'msgpush', body: bytes.toString('base64') }), sent);
      return true;
    },
    fence(passed) {
      if (socket && state === 'connected') fences.add(passed);
      else passed();
    },
    close() {
      closed = true;
      state = 'disconnected';
      users.clear();
      quiet();
      socket?.close(GOING_AWAY);
      socket?.terminate();
    },
  };
}
