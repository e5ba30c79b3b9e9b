import type { IncomingHttpHeaders } from 'node:http';
import { DeviceCloudError } from '../errors';
import { readFrame } from '../protocol/frames';
import type { Upload } from '../types';
import type { Place, ServiceLimiter } from '../http/service-limiter';
import type { PingAnswers } from './keepalive';
import {
  IsolatedListener,
  type ChannelListener,
  type ChannelObserver,
  type ChannelState,
  type ChannelView,
} from './listener';
import { backoff } from '../util/backoff';
import { readRetryAfter, type ServiceClock } from '../http/answer';
import {
  Connection,
  MAX_FRAME,
  MAX_PARTS,
  type ConnectionEvents,
  type ConnectionSettings,
} from './socket';

/** Everything a channel needs from its application. */
export interface ChannelSettings extends ConnectionSettings {
  /** The application, as digits. */
  appid: string;
  /** The address with a fresh signature (section 4.3). */
  url: (chipid: string) => string;
  /** Of the handshakes that run side by side. */
  limiter: Pick<ServiceLimiter, 'acquire' | 'pause'>;
  /** This machine's clock, in ms. */
  now: () => number;
  /** Observes every channel of the application. */
  observer?: ChannelObserver | undefined;
  /** Of the service: sees the times of events until it is known. */
  clock?: Pick<ServiceClock, 'isKnown' | 'sawEvent'>;
}

/** The least and the greatest limit of the pause before a reconnect, in ms. */
const BASE = 1000;
const CAP = 60_000;
/** The number of doublings after which the limit is the cap. */
const MOST = Math.log2(CAP / BASE);
/** Each time a connection was open for this long, in ms, the limit after it has one doubling less. */
const PER_DOUBLING = 4000;

/**
 * How long a channel waits before it reconnects: full jitter, that is, anything between 0 and a limit.
 * The limit doubles with each attempt from 1 s up to 60 s, and falls with the time that the last
 * connection was open: it is at most 60 s after a connection that ended at once, and halves for every 4 s
 * that the connection lasted. So a connection that is cut every 20 s costs a second or two each time, while a
 * service that accepts and closes sees an attempt every 30 s on average, as a service that is down does.
 */
export class ReconnectBackoff {
  readonly #random: () => number;
  #doublings = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * The pause before the next attempt, in ms.
   * @param openFor milliseconds the connection was open, 0 if the attempt failed
   */
  pause(openFor: number): number {
    const limit = Math.max(0, MOST - openFor / PER_DOUBLING);
    const doublings = Math.min(this.#doublings, limit);
    this.#doublings = Math.min(doublings + 1, MOST);
    return backoff(doublings, BASE, CAP, this.#random);
  }

  /** The pause after a refusal that only a person can fix, in ms: 30 s to 60 s. */
  slowPause(): number {
    return backoff(0, CAP, CAP, this.#random, 0.5);
  }
}

const TOO_LARGE = `An upload is larger than ${MAX_FRAME / 2 ** 20} MiB, the limit for a frame.`;
const TOO_MANY = `An upload came in more than ${MAX_PARTS.toLocaleString('en')} parts, the limit.`;

/** Faults by the code of ws that ends a connection for them; the first two are the same limit. */
const FAULTS: ReadonlyMap<string, string> = new Map([
  ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH', TOO_LARGE],
  ['WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH', TOO_LARGE],
  ['WS_ERR_TOO_MANY_BUFFERED_PARTS', TOO_MANY],
]);

/**
 * The channel of one device: reconnects until it is closed. Its fields are hidden, since the socket
 * holds the signed address and a listener can print its channel.
 */
export class Channel implements ChannelView, ConnectionEvents {
  state: ChannelState = 'connecting';
  reason: string | undefined = undefined;
  readonly #chipid: string;
  readonly #settings: ChannelSettings;
  readonly #answers: PingAnswers = { areExpected: false };
  /** Replaced, never changed: a listener may join, leave or close the channel from a callback. */
  #listeners: readonly ChannelListener[] = [];
  /** Made when a connection first ends. */
  #backoff: ReconnectBackoff | undefined;
  #connection: Connection | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  /** Among the handshakes: from the wait for it until the channel opens or fails. */
  #place: Place | undefined;
  /** Flaws of uploads that this connection has reported. */
  #flaws: string[] | undefined;
  #isClosed = false;

  /** Starts to connect. */
  constructor(chipid: string, settings: ChannelSettings) {
    this.#chipid = chipid;
    this.#settings = settings;
    this.#startAttempt();
  }

  /** The number of listeners. */
  get size(): number {
    return this.#listeners.length;
  }

  /** @param listener one for each call; never throws */
  join(listener: ChannelListener): void {
    this.#listeners = [...this.#listeners, listener];
  }

  /** Calls nothing of this listener from now on. It may have left already. */
  leave(listener: ChannelListener): void {
    if (listener instanceof IsolatedListener) listener.release();
    this.#listeners = this.#listeners.filter((each) => each !== listener);
  }

  /** Calls no listener from now on. */
  leaveAll(): void {
    for (const listener of this.#listeners) this.leave(listener);
  }

  /** Sends data to the device (section 6, `msgpush`). @returns false if the channel is not connected */
  push(bytes: Buffer, sent: (error?: Error) => void): boolean {
    if (!this.#connection?.isOpen || this.state !== 'connected') return false;
    this.#settings.observer?.onPush?.(this.#chipid, bytes);
    const body = bytes.toString('base64');
    this.#connection.send(JSON.stringify({ type: 'msgpush', body }), sent);
    return true;
  }

  /** @param passed is called when everything that the peer has sent by now has arrived, or no longer can */
  flush(passed: () => void): void {
    if (this.#connection && this.state === 'connected') this.#connection.flush(passed);
    else passed();
  }

  /** Closes it permanently, without a call of any listener. */
  close(): void {
    if (!this.#isClosed) this.#settings.observer?.onClosed(this.#chipid);
    this.#isClosed = true;
    this.state = 'disconnected';
    this.leaveAll();
    this.#clearTimers();
    this.#connection?.close();
  }

  opened(): void {
    this.#releasePlace();
    this.#flaws = undefined;
    this.reason = undefined;
    this.#setState('connected');
  }

  frame(data: Buffer, isBinary: boolean): void {
    const { appid, now } = this.#settings;
    const frame = isBinary
      ? { fault: 'A frame is binary.' }
      : readFrame(data, { chipid: this.#chipid, appid }, now);
    if ('upload' in frame) {
      const { clock, observer } = this.#settings;
      // Not asked again with each upload.
      if (clock?.isKnown === false && frame.flaws.length === 0)
        clock.sawEvent(frame.upload.timestamp);
      observer?.onLive(frame.upload, frame.base64);
      this.#deliver(frame.upload);
      for (const flaw of frame.flaws) this.#reportFlaw(flaw);
    } else if ('fault' in frame) {
      this.#each((listener) => listener.onGap?.());
      this.#report(frame.fault);
    }
  }

  ended(reason: string, openFor: number, refusal?: IncomingHttpHeaders): void {
    const { limiter, now } = this.#settings;
    const wait = refusal && readRetryAfter(Number(reason), refusal, now());
    if (wait !== undefined) limiter.pause(wait);
    this.#connection = undefined;
    const fault = FAULTS.get(reason);
    if (fault !== undefined) this.#report(fault);
    this.#scheduleReconnect(reason, openFor);
  }

  #startAttempt(): void {
    this.#reconnectTimer = undefined;
    this.#place = this.#settings.limiter.acquire(() => this.#connect());
    this.#setState('connecting');
  }

  #connect(): void {
    try {
      const url = this.#settings.url(this.#chipid);
      this.#connection = new Connection(url, this.#settings, this.#answers, this);
    } catch (error) {
      // Our own texts have no address in them.
      const own = error instanceof DeviceCloudError ? error : undefined;
      if (own) this.#report(own.message);
      this.#scheduleReconnect(
        own?.code ?? (error instanceof Error ? error.name : 'unknown error'),
        0,
      );
    }
  }

  #scheduleReconnect(reason: string, openFor: number): void {
    this.#releasePlace();
    // A listener may have closed the channel from `onFault`.
    if (this.#isClosed) return;
    this.reason = reason;
    this.#backoff ??= new ReconnectBackoff(this.#settings.random);
    const isRefused = reason === '401' || reason === '403';
    const pause = isRefused ? this.#backoff.slowPause() : this.#backoff.pause(openFor);
    this.#reconnectTimer = setTimeout(() => this.#startAttempt(), pause);
    this.#setState('disconnected');
  }

  #clearTimers(): void {
    clearTimeout(this.#reconnectTimer);
    this.#releasePlace();
  }

  #releasePlace(): void {
    this.#place?.release();
    this.#place = undefined;
  }

  #setState(state: ChannelState): void {
    this.state = state;
    this.#settings.observer?.onState(this.#chipid, state, this.reason);
    this.#each((listener) => listener.onState?.(state, this.reason));
  }

  /** Calls each listener, unless a callback of one before it made it leave. */
  #each(call: (listener: ChannelListener) => void): void {
    for (const listener of this.#listeners) if (this.#listeners.includes(listener)) call(listener);
  }

  #deliver(upload: Upload): void {
    let isShared = false;
    for (const listener of this.#listeners) {
      if (!listener.onUpload || !this.#listeners.includes(listener)) continue;
      // The first gets the bytes themselves; each of the others a copy, since a flow may change them.
      listener.onUpload(isShared ? { ...upload, body: Buffer.from(upload.body) } : upload);
      isShared = true;
    }
  }

  #report(fault: string): void {
    this.#each((listener) => listener.onFault?.(fault));
  }

  /** Once per connection: a service writes the field in the same way in each upload. */
  #reportFlaw(flaw: string): void {
    this.#flaws ??= [];
    if (this.#flaws.includes(flaw)) return;
    this.#flaws.push(flaw);
    this.#report(flaw);
  }
}
