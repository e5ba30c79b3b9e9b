import type { Timed, TimerQueue } from './timer-queue';

/** Pings that may go unanswered. */
const MISSES = 2;

/**
 * Whether a service answers WebSocket pings, as far as one channel has seen, over its reconnects. The interface mentions
 * no pings, so silence means something only once a ping has been answered.
 */
export interface PingAnswers {
  areExpected: boolean;
}

/** The connection, as its keepalive and its flushes use it. */
export interface Pinger {
  sendHeartbeat(): void;
  /** Sends a ping, and returns its number: each is higher than the one before. */
  ping(): number;
  /** The peer, which is known to answer pings, has been silent for too long. */
  silent(): void;
}

/** The settings of a keepalive. */
export interface KeepaliveSettings {
  /** Milliseconds between two heartbeat messages (section 6 suggests 300); 0 is off. */
  heartbeat: number;
  /** Milliseconds between two pings; 0 is off. */
  ping: number;
  random: () => number;
  /** Shared by all channels of an application. */
  timers: TimerQueue;
}

/**
 * Sends heartbeats and pings. Their first phase is random, so that many channels opened together do
 * not send theirs together. Also finds a peer that is silent although its connection looks open:
 * within three ping periods, if pings are known to be answered.
 */
export class Keepalive implements Timed {
  due = 0;
  readonly #connection: Pinger;
  readonly #settings: KeepaliveSettings;
  readonly #answers: PingAnswers;
  #heartbeatAt = Infinity;
  #pingAt = Infinity;
  /** Whether a frame of any kind has arrived since the last look. */
  hasHeard = true;
  #missed = 0;

  constructor(connection: Pinger, settings: KeepaliveSettings, answers: PingAnswers) {
    this.#connection = connection;
    this.#settings = settings;
    this.#answers = answers;
  }

  /** The connection is open. */
  start(): void {
    const { heartbeat, ping, random, timers } = this.#settings;
    const now = timers.now();
    if (heartbeat > 0) this.#heartbeatAt = now + heartbeat * random();
    if (ping > 0) this.#pingAt = now + ping * random();
    this.#schedule();
  }

  stop(): void {
    this.#settings.timers.remove(this);
  }

  onDue(): void {
    const { heartbeat, ping, random, timers } = this.#settings;
    const now = timers.now();
    if (this.#pingAt <= now) {
      if (this.#isSilent()) {
        this.#connection.silent();
        return;
      }
      // With jitter, so that many channels do not ping in step.
      this.#pingAt = now + ping * (0.9 + 0.1 * random());
      this.#connection.ping();
    }
    if (this.#heartbeatAt <= now) {
      this.#heartbeatAt = now + heartbeat;
      this.#connection.sendHeartbeat();
    }
    this.#schedule();
  }

  /** Asked once before each ping. */
  #isSilent(): boolean {
    this.#missed = this.hasHeard ? 0 : this.#missed + 1;
    this.hasHeard = false;
    return this.#missed >= MISSES && this.#answers.areExpected;
  }

  #schedule(): void {
    const next = Math.min(this.#heartbeatAt, this.#pingAt);
    if (next < Infinity) this.#settings.timers.set(this, next);
  }
}

interface Flush {
  /** 0 where pings are off. */
  ping: number;
  flushed: () => void;
}

/** Milliseconds to wait for a pong before deciding whether it is worth waiting longer. */
const PATIENCE = 5000;

/**
 * Finds out when everything that the peer had sent has arrived: it answers pings in order, so a pong
 * comes after what was sent before it. A peer that is known to answer pings and then falls silent has
 * flushed nothing: the network may have stalled, and what it still delivers later would arrive a second time
 * after a recovery. If it stays silent, its connection ends. A peer that has never answered a ping
 * (the interface mentions none), or is not to get any, is waited for no longer than {@link PATIENCE}.
 */
export class FlushQueue {
  readonly #connection: Pick<Pinger, 'ping'>;
  readonly #answers: PingAnswers;
  readonly #isWatched: boolean;
  #pending: Flush[] = [];
  #timer: NodeJS.Timeout | undefined;
  #round = 0;
  /** Whether a frame of any kind has arrived since the last look. */
  hasHeard = false;

  /**
   * @param answers whether pongs are to be expected
   * @param isWatched whether pings are sent, and silence ends the connection
   */
  constructor(connection: Pick<Pinger, 'ping'>, answers: PingAnswers, isWatched: boolean) {
    this.#connection = connection;
    this.#answers = answers;
    this.#isWatched = isWatched;
  }

  /** @param flushed is called once: when the peer has answered, or its connection has ended */
  add(flushed: () => void): void {
    const ping = this.#isWatched ? this.#connection.ping() : 0;
    this.#pending.push({ ping, flushed });
    if (this.#pending.length === 1) this.#watch();
  }

  /**
   * A ping was answered. A peer may answer only the last of several (RFC 6455, 5.5.3): its pong also
   * answers the earlier ones.
   * @param ping its number
   */
  pong(ping: number): void {
    const flushed = this.#pending.filter((flush) => flush.ping <= ping);
    if (flushed.length === 0) return;
    this.#pending = this.#pending.filter((flush) => flush.ping > ping);
    clearTimeout(this.#timer);
    if (this.#pending.length > 0) this.#watch();
    for (const flush of flushed) flush.flushed();
  }

  /** The connection has ended: nothing more arrives. */
  end(): void {
    this.pong(Infinity);
  }

  #watch(): void {
    this.#round = 0;
    this.#timer = setTimeout(() => this.#look(), PATIENCE);
  }

  #look(): void {
    // Frames still arrive, long after the ping, but no pong: this peer no longer answers.
    const isIgnored = this.#round > 0 && this.hasHeard;
    if (!this.#isWatched || !this.#answers.areExpected || isIgnored) {
      this.end();
      return;
    }
    this.#round++;
    this.hasHeard = false;
    this.#timer = setTimeout(() => this.#look(), PATIENCE);
  }
}
