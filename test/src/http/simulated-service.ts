import { type PacedAttempt, AdaptiveLimiter } from '../../../src/http/adaptive-limiters';
import { ReconnectBackoff } from '../../../src/channel/channel';
import { tick } from '../../support/clock';

/** The outcome of an attempt: after some milliseconds it opens, or fails for a reason. */
export interface Outcome {
  after: number;
  reason?: string;
  retryAfter?: number;
  /** Milliseconds after which the service closes it again. */
  closes?: number;
}

/** @param at when the attempt is made, in ms @param channel whose it is, counted from 0 */
export type Service = (at: number, channel: number) => Outcome;

export interface Course {
  /** When each attempt was made, and when each channel opened, in ms. */
  attempts: number[];
  opened: number[];
  /** The most attempts in any second. */
  most(): number;
  /** How many of the attempts were made in this time. */
  between(from: number, to: number): number;
}

/** Numbers from 0 to 1 that are the same in each run. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** All channels of a service, which has just restarted. They reconnect, by the mocked clock, until all are open. */
export class Fleet implements Course {
  readonly attempts: number[] = [];
  readonly opened: number[] = [];
  /** The share of its time in which this process has nothing to do. */
  idleShare = 1;
  private readonly random = numbers(1);
  private readonly limiter: AdaptiveLimiter;

  /** @param remembers as a process of a cluster does */
  constructor(remembers = false) {
    const clock = {
      now: Date.now,
      idle: () => Date.now() * this.idleShare,
      random: this.random,
    };
    this.limiter = new AdaptiveLimiter(clock);
    if (remembers) this.limiter.remember();
  }

  /** @param most milliseconds until it gives up @returns when the last has opened */
  run(channels: number, service: Service, most = 600_000): number {
    const end = Date.now() + most;
    const goal = this.opened.length + channels;
    for (let channel = 0; channel < channels; channel++) this.add(channel, service);
    while (this.opened.length < goal && Date.now() < end) tick(1);
    return Date.now();
  }

  most(): number {
    let from = 0;
    return this.attempts.reduce((most, at, index) => {
      while (at - (this.attempts[from] ?? at) >= 1000) from++;
      return Math.max(most, index - from + 1);
    }, 0);
  }

  between(from: number, to: number): number {
    return this.attempts.filter((at) => at >= from && at < to).length;
  }

  private add(channel: number, service: Service): void {
    const backoff = new ReconnectBackoff(this.random);
    const start = (): void => {
      const attempt = this.limiter.acquire(() => {
        const now = Date.now();
        this.attempts.push(now);
        const outcome = service(now, channel);
        setTimeout(() => this.settle(attempt, outcome, pause), outcome.after);
      });
    };
    const pause = (): void => void setTimeout(start, backoff.pause(0));
    pause();
  }

  private settle(attempt: PacedAttempt, outcome: Outcome, again: () => void): void {
    const { reason, retryAfter, closes } = outcome;
    if (reason !== undefined) {
      attempt.failed(reason, retryAfter);
      again();
      return;
    }
    attempt.succeeded();
    if (closes === undefined) {
      this.opened.push(Date.now());
      return;
    }
    setTimeout(() => {
      this.limiter.ended(closes);
      again();
    }, closes);
  }
}
