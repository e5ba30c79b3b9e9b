import type { PingAnswers } from './keepalive';

interface Flush {
  ping: number;
  flushed: () => void;
}

/** Milliseconds a peer has for its pong before it is asked whether it answers pings at all. */
const PATIENCE = 5000;

/**
 * Finds out when everything that the peer had sent has arrived: it answers pings in order, so a pong
 * comes after what was sent before it. A peer that is known to answer and falls silent flushes
 * nothing: it may be a network that stalls, and what it holds back would come twice. Its connection
 * ends when it stays silent. A peer that has never answered a ping (the interface mentions none) is
 * not waited for longer than {@link PATIENCE}.
 */
export class FlushQueue {
  readonly #ping: () => number;
  readonly #answers: PingAnswers;
  readonly #watched: boolean;
  #pending: Flush[] = [];
  #timer: NodeJS.Timeout | undefined;
  #round = 0;
  #heard = false;

  /**
   * @param ping sends a ping, and returns its number: each is higher than the one before
   * @param answers whether pongs are to be expected
   * @param watched whether silence ends the connection; if not, a pong is not waited for very long
   */
  constructor(ping: () => number, answers: PingAnswers, watched: boolean) {
    this.#ping = ping;
    this.#answers = answers;
    this.#watched = watched;
  }

  /** @param flushed is called once: when the peer has answered, or its connection has ended */
  add(flushed: () => void): void {
    this.#pending.push({ ping: this.#ping(), flushed });
    if (this.#pending.length === 1) this.#watch();
  }

  /** A frame of any kind has come. */
  heard(): void {
    this.#heard = true;
  }

  /**
   * A ping was answered. A peer may answer only the last of several (RFC 6455, 5.5.3): its pong stands
   * for the ones before, too.
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
    // Frames that come without the pong, long after the ping: this peer answers no longer.
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
