import type { PingAnswers } from './keepalive';

interface Flush {
  ping: number;
  flushed: () => void;
}

/** Milliseconds to wait for a pong before deciding whether it is worth waiting longer. */
const PATIENCE = 5000;

/** Sends a ping, and returns its number: each is higher than the one before. */
export interface Pinger {
  ping(): number;
}

/**
 * Finds out when everything that the peer had sent has arrived: it answers pings in order, so a pong
 * comes after what was sent before it. A peer that is known to answer pings and then falls silent has
 * flushed nothing: the network may have stalled, and what it still delivers later would arrive a second time
 * after a recovery. If it stays silent, its connection ends. A peer that has never answered a ping
 * (the interface mentions none) is waited for no longer than {@link PATIENCE}.
 */
export class FlushQueue {
  readonly #pinger: Pinger;
  readonly #answers: PingAnswers;
  readonly #watched: boolean;
  #pending: Flush[] = [];
  #timer: NodeJS.Timeout | undefined;
  #round = 0;
  #heard = false;

  /**
   * @param answers whether pongs are to be expected
   * @param watched whether silence ends the connection; if not, a pong is not waited for very long
   */
  constructor(pinger: Pinger, answers: PingAnswers, watched: boolean) {
    this.#pinger = pinger;
    this.#answers = answers;
    this.#watched = watched;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** @param flushed is called once: when the peer has answered, or its connection has ended */
  add(flushed: () => void): void {
    this.#pending.push({ ping: this.#pinger.ping(), flushed });
    if (this.#pending.length === 1) this.#watch();
  }

  /** A frame of any kind has arrived. */
  heard(): void {
    this.#heard = true;
  }

  /**
   * A ping was answered. A peer may answer only the last of several (RFC 6455, 5.5.3): its pong also
   * answers the earlier ones.
   * @param ping its number
   */
  pong(ping: number): void {
    if (this.#pending.length === 0) return;
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
    const ignored = this.#round > 0 && this.#heard;
    if (!this.#watched || !this.#answers.expected || ignored) {
      this.end();
      return;
    }
    this.#round++;
    this.#heard = false;
    this.#timer = setTimeout(() => this.#look(), PATIENCE);
  }
}
