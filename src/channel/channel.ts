import type { ChannelState, ChannelView } from './types';
import type { ConnectLimiter } from './connect-limiter';
import { Connection, type ConnectionEvents, type ConnectionSettings } from './socket';
import type { IsolatedListener } from './isolated-listener';
import { PingAnswers } from './keepalive';
import { ReconnectBackoff } from './reconnect-backoff';
import { readFrame, type Upload } from './frames';

/** Everything a channel needs from its application. */
export interface ChannelSettings extends ConnectionSettings {
  /** The application, as digits. */
  appid: string;
  /** The address with a fresh signature (section 4.3). */
  url: (chipid: string) => string;
  limiter: ConnectLimiter;
  /** This machine's clock, in ms. */
  now: () => number;
  /** Ends what is on its way below the sockets. */
  close?(): void;
}

/** How ws names a frame over the limit, or over anything that it could count. */
const TOO_LARGE = /^WS_ERR_UNSUPPORTED_(MESSAGE|DATA_PAYLOAD)_LENGTH$/;
const TOO_LARGE_FAULT = 'an upload is larger than 16 MiB, the limit for a frame';

/**
 * The channel of one device, open until it is closed: every other end leads to a new attempt. Its
 * fields are hidden, since the socket holds the signed address and who listens can print the channel.
 */
export class Channel implements ChannelView, ConnectionEvents {
  state: ChannelState = 'connecting';
  reason: string | undefined = undefined;
  readonly #chipid: string;
  readonly #settings: ChannelSettings;
  readonly #users = new Set<IsolatedListener>();
  readonly #answers = new PingAnswers();
  readonly #backoff: ReconnectBackoff;
  #connection: Connection | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  /** Leaves the queue of the connect limiter. */
  #cancelAttempt: (() => void) | undefined;
  /** Flaws of uploads that this connection has reported. */
  #flaws: string[] = [];
  #closed = false;

  /** Starts to connect. */
  constructor(chipid: string, settings: ChannelSettings) {
    this.#chipid = chipid;
    this.#settings = settings;
    this.#backoff = new ReconnectBackoff(settings.random);
    this.#attempt();
  }

  get size(): number {
    return this.#users.size;
  }

  /** @param user a new one for each who joins, even if several stand for the same object */
  join(user: IsolatedListener): void {
    this.#users.add(user);
  }

  /** Nothing of this user is called from now on. It may have left already. */
  leave(user: IsolatedListener): void {
    user.release();
    this.#users.delete(user);
  }

  /** Sends data to the device (section 6, `msgpush`). @returns false if the channel is not connected */
  push(bytes: Buffer, sent: (error?: Error) => void): boolean {
    if (!this.#connection?.isOpen || this.state !== 'connected') return false;
    const body = bytes.toString('base64');
    this.#connection.send(JSON.stringify({ type: 'msgpush', body }), sent);
    return true;
  }

  /** @param passed is called when everything that the peer has sent by now has arrived, or no longer can */
  flush(passed: () => void): void {
    if (this.#connection && this.state === 'connected') this.#connection.flush(passed);
    else passed();
  }

  /** Ends it; no user is told. */
  close(): void {
    this.#closed = true;
    this.state = 'disconnected';
    for (const user of this.#users) user.release();
    this.#users.clear();
    this.#clearTimers();
    this.#connection?.close();
  }

  opened(): void {
    this.#flaws = [];
    this.reason = undefined;
    this.#setState('connected');
  }

  frame(data: Buffer, isBinary: boolean): void {
    const { appid, now } = this.#settings;
    const frame = isBinary
      ? { fault: 'a frame is binary' }
      : readFrame(data, { chipid: this.#chipid, appid }, now);
    if ('upload' in frame) {
      this.#deliver(frame.upload);
      for (const flaw of frame.flaws) this.#reportFlaw(flaw);
    } else if ('fault' in frame) {
      for (const user of [...this.#users]) user.onGap();
      this.#report(frame.fault);
    }
  }

  ended(reason: string, openFor: number): void {
    this.#connection = undefined;
    if (TOO_LARGE.test(reason)) this.#report(TOO_LARGE_FAULT);
    this.#scheduleReconnect(reason, openFor);
  }

  #attempt(): void {
    this.#reconnectTimer = undefined;
    this.#cancelAttempt = this.#settings.limiter.acquire(() => this.#connect());
    this.#setState('connecting');
  }

  #connect(): void {
    this.#cancelAttempt = undefined;
    try {
      const url = this.#settings.url(this.#chipid);
      this.#connection = new Connection(url, this.#settings, this.#answers, this);
    } catch (error) {
      this.#scheduleReconnect(error instanceof Error ? error.name : 'unknown error', 0);
    }
  }

  #scheduleReconnect(reason: string, openFor: number): void {
    // A user may have closed the channel when it was told of the fault that ended the connection.
    if (this.#closed) return;
    this.reason = reason;
    const refused = reason === '401' || reason === '403';
    const pause = refused ? this.#backoff.slowPause() : this.#backoff.pause(openFor);
    this.#reconnectTimer = setTimeout(() => this.#attempt(), pause);
    this.#setState('disconnected');
  }

  #clearTimers(): void {
    clearTimeout(this.#reconnectTimer);
    this.#cancelAttempt?.();
  }

  // Each of the following goes through a copy: a user may join, leave or close from a callback.

  #setState(state: ChannelState): void {
    this.state = state;
    for (const user of [...this.#users]) user.onState(state, this.reason);
  }

  #deliver(upload: Upload): void {
    let shared = false;
    for (const user of [...this.#users]) {
      if (!user.takesUploads) continue;
      // The first gets the bytes themselves; a further one its own, since a flow may change them.
      user.onUpload(shared ? { ...upload, body: Buffer.from(upload.body) } : upload);
      shared = true;
    }
  }

  #report(fault: string): void {
    for (const user of [...this.#users]) user.onFault(fault);
  }

  /** Once a connection: a service writes the field in the same way in each upload. */
  #reportFlaw(flaw: string): void {
    if (this.#flaws.includes(flaw)) return;
    this.#flaws.push(flaw);
    this.#report(flaw);
  }
}
