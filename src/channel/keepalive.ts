/** Pings that may go unanswered. */
const MISSES = 2;
/** Connections in a row that may end for silence before the service is taken to answer no pings. */
const SILENT_ENDS = 5;

/**
 * Whether a service answers WebSocket pings, as far as one channel has seen. The interface mentions
 * no pings, so silence means something only once one has been answered. That is kept when the
 * channel reconnects, and given up when no connection has answered for several in a row.
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

  /** A connection has ended for silence. */
  silent(): void {
    if (++this.#silentEnds >= SILENT_ENDS) this.#expected = false;
  }
}

/** What {@link Keepalive} does to a connection. */
export interface KeptAlive {
  sendHeartbeat(): void;
  ping(): void;
  /** The peer, which is known to answer pings, has been silent for too long. */
  silent(): void;
}

/** How a connection is kept alive. */
export interface KeepaliveSettings {
  /** Seconds between two heartbeat messages (section 6 suggests 300); 0 is off. */
  heartbeat: number;
  /** Seconds between two pings; 0 is off. */
  ping: number;
  random: () => number;
}

/**
 * Sends heartbeats and pings on timers whose first phase is random, so that many channels opened
 * together do not send theirs together, and finds a peer that is silent though its connection looks
 * open: within three periods of the pings, if pings are known to be answered.
 */
export class Keepalive {
  readonly #connection: KeptAlive;
  readonly #settings: KeepaliveSettings;
  readonly #answers: PingAnswers;
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #pingTimer: NodeJS.Timeout | undefined;
  #heard = true;
  #missed = 0;

  constructor(connection: KeptAlive, settings: KeepaliveSettings, answers: PingAnswers) {
    this.#connection = connection;
    this.#settings = settings;
    this.#answers = answers;
  }

  /** The connection is open. */
  start(): void {
    const { heartbeat, ping, random } = this.#settings;
    if (heartbeat > 0) {
      const period = heartbeat * 1000;
      this.#heartbeatTimer = setTimeout(() => {
        this.#connection.sendHeartbeat();
        this.#heartbeatTimer = setInterval(() => this.#connection.sendHeartbeat(), period);
      }, period * random());
    }
    if (ping > 0) this.#pingTimer = setTimeout(() => this.#tick(), ping * 1000 * random());
  }

  /** A frame of any kind has come. */
  heard(): void {
    this.#heard = true;
  }

  clearTimers(): void {
    clearTimeout(this.#heartbeatTimer);
    clearTimeout(this.#pingTimer);
  }

  #tick(): void {
    this.#missed = this.#heard ? 0 : this.#missed + 1;
    this.#heard = false;
    if (this.#missed >= MISSES && this.#answers.expected) {
      this.#answers.silent();
      this.#connection.silent();
      return;
    }
    const { ping, random } = this.#settings;
    // With jitter, so that many channels do not ping in step.
    this.#pingTimer = setTimeout(() => this.#tick(), ping * 1000 * (0.9 + 0.1 * random()));
    this.#connection.ping();
  }
}
