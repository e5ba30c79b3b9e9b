import type { Timed, TimerQueue } from './timer-queue';

const SECOND = 1000;
/** Pings that may go unanswered. */
const MISSES = 2;
/** Connections in a row that are ended because of silence before the service is assumed not to answer pings. */
const SILENT_ENDS = 5;

/**
 * Whether a service answers WebSocket pings, as far as one channel has seen. The interface mentions
 * no pings, so silence means something only once a ping has been answered. The channel remembers that
 * across reconnects, and forgets it after several connections in a row without an answer.
 */
export class PingAnswers {
  #expected = false;
  #silentEnds = 0;

  get expected(): boolean {
    return this.#expected;
  }

  /** A ping was answered. */
  answered(): void {
    this.#expected = true;
    this.#silentEnds = 0;
  }

  /** A connection was ended because of silence. */
  silent(): void {
    if (++this.#silentEnds >= SILENT_ENDS) this.#expected = false;
  }
}

/** The connection, as {@link Keepalive} uses it. */
export interface KeptAlive {
  sendHeartbeat(): void;
  ping(): void;
  /** The peer, which is known to answer pings, has been silent for too long. */
  silent(): void;
}

/** The settings of a keepalive. */
export interface KeepaliveSettings {
  /** Seconds between two heartbeat messages (section 6 suggests 300); 0 is off. */
  heartbeat: number;
  /** Seconds between two pings; 0 is off. */
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
  index = -1;
  readonly #connection: KeptAlive;
  readonly #settings: KeepaliveSettings;
  readonly #answers: PingAnswers;
  #heartbeatAt = Infinity;
  #pingAt = Infinity;
  #heard = true;
  #missed = 0;

  constructor(connection: KeptAlive, settings: KeepaliveSettings, answers: PingAnswers) {
    this.#connection = connection;
    this.#settings = settings;
    this.#answers = answers;
  }

  /** The connection is open. */
  start(): void {
    const { heartbeat, ping, random, timers } = this.#settings;
    const now = timers.now();
    if (heartbeat > 0) this.#heartbeatAt = now + heartbeat * SECOND * random();
    if (ping > 0) this.#pingAt = now + ping * SECOND * random();
    this.#schedule();
  }

  /** A frame of any kind has arrived. */
  heard(): void {
    this.#heard = true;
  }

  stop(): void {
    this.#settings.timers.remove(this);
  }

  onDue(): void {
    const { heartbeat, ping, random, timers } = this.#settings;
    const now = timers.now();
    if (this.#pingAt <= now) {
      if (this.#isSilent()) {
        this.#answers.silent();
        this.#connection.silent();
        return;
      }
      // With jitter, so that many channels do not ping in step.
      this.#pingAt = now + ping * SECOND * (0.9 + 0.1 * random());
      this.#connection.ping();
    }
    if (this.#heartbeatAt <= now) {
      this.#heartbeatAt = now + heartbeat * SECOND;
      this.#connection.sendHeartbeat();
    }
    this.#schedule();
  }

  /** Asked once before each ping. */
  #isSilent(): boolean {
    this.#missed = this.#heard ? 0 : this.#missed + 1;
    this.#heard = false;
    return this.#missed >= MISSES && this.#answers.expected;
  }

  #schedule(): void {
    const next = Math.min(this.#heartbeatAt, this.#pingAt);
    if (next < Infinity) this.#settings.timers.set(this, next);
  }
}
