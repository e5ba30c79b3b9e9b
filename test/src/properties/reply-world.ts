import type { ChannelListener } from '../../../src/channel/listener';
import { DeviceCloudError } from '../../../src/errors';
import { Deadlines } from '../../../src/http/deadline';
import { Queues } from '../../../src/commands/queue';
import type { RecoveringChannel, RecoverOptions } from '../../../src/recovery/options';
import { matcherOf } from '../../../src/commands/reply';
import { Requests } from '../../../src/commands/requests';
import type { Reply, RequestMatch } from '../../../src/commands/reply';
import type { Answer, PushAnswer } from '../../../src/types';
import { settled } from '../../tooling/until';
import { manual, type Manual } from '../support/manual';

export const OUTCOMES = ['accepted', 'unknown', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Rounds of the event loop in which each upload of a step is judged. */
const ROUNDS = 60;

/** What happens to the requests of one device. An upload has a key, which some requests wait for. */
export type Step =
  | { do: 'ask'; key: number | 'next' }
  | { do: 'answer'; outcome: Outcome }
  | { do: 'upload'; keys: readonly number[] }
  | { do: 'down' }
  | { do: 'up'; recovers: boolean }
  | { do: 'recover' };

/** A request, and what by the rules has to come of it. */
interface Asked {
  key: number | 'next';
  push: Manual<Answer<PushAnswer>>;
  outcome: Outcome | undefined;
  /** Whether a recovered upload counts. */
  covered: boolean;
  /** The upload that settles it. */
  expected: number | undefined;
  result: Reply | DeviceCloudError | undefined;
}

const answers = {
  unknown: new DeviceCloudError('TIMEOUT', 'no answer'),
  failed: new DeviceCloudError('NOT_FOUND', 'no such device'),
};

/** One device, its channel played by the test, and a model of who gets which upload. */
export class ReplyWorld {
  readonly asked: Asked[] = [];
  /** Those whose push was sent, in this order. */
  readonly sent: Asked[] = [];
  uploads = 0;
  readonly #deadlines = new Deadlines();
  readonly #queues = new Queues(0);
  readonly #requests: Requests;
  readonly #missed: { key: number; number: number }[] = [];
  readonly #channel = { state: 'connected' as 'connected' | 'disconnected', reason: undefined };
  #complete = true;
  #listener: ChannelListener = {};
  #save = (): void => undefined;

  constructor() {
    const recover = (_: string, listener: ChannelListener, { save }: RecoverOptions) => {
      this.#listener = listener;
      this.#save = () => save?.({ id: '0' });
      const isComplete = (): boolean => this.#complete;
      const joined = {
        channel: this.#channel,
        get isComplete() {
          return isComplete();
        },
        release: () => undefined,
      };
      return joined as unknown as RecoveringChannel;
    };
    this.#requests = new Requests({
      listening: { recover },
      deadlines: this.#deadlines,
      queues: this.#queues,
      turns: new Queues(0),
      onPushError: () => undefined,
    });
  }

  async step(step: Step): Promise<void> {
    this.#take(step);
    await settled(ROUNDS);
  }

  /** Answers what is still to be answered, and gives everything else up. */
  async end(): Promise<void> {
    await this.step({ do: 'up', recovers: true });
    await this.step({ do: 'recover' });
    while (this.#running()) await this.step({ do: 'answer', outcome: 'accepted' });
    this.#queues.close();
    this.#deadlines.close();
    this.#requests.close();
    await settled(ROUNDS);
  }

  #take(step: Step): void {
    switch (step.do) {
      case 'ask':
        return this.#ask(step.key);
      case 'answer':
        return this.#answer(step.outcome);
      case 'upload':
        for (const key of step.keys) this.#upload(key);
        return;
      case 'down':
        return this.#down();
      case 'up':
        return this.#up(step.recovers);
      case 'recover':
        if (this.#channel.state === 'connected') this.#recover();
    }
  }

  #ask(key: number | 'next'): void {
    const push = manual<Answer<PushAnswer>>();
    const asked: Asked = {
      key,
      push,
      ...{ outcome: undefined, covered: false },
      expected: undefined,
      result: undefined,
    };
    this.asked.push(asked);
    const match: RequestMatch = key === 'next' ? key : { property: 'key', equals: key };
    const request = {
      ...({
        chipid: '1',
        name: 'Push',
        decoding: 'json',
        charset: 'utf-8',
        timeout: 60_000,
        replyTimeout: 60_000,
      } as const),
      ...{ recover: {}, signal: undefined, onProgress: () => undefined },
      matcher: matcherOf(match),
      push: () => {
        this.sent.push(asked);
        asked.covered = this.#complete;
        return push.promise;
      },
    };
    this.#requests.run(request).then(
      (reply) => (asked.result = reply),
      (error: unknown) => (asked.result = error as DeviceCloudError),
    );
  }

  /** Commands to a device go out one at a time. */
  #running(): Asked | undefined {
    return this.sent.find(({ outcome }) => outcome === undefined);
  }

  #answer(outcome: Outcome): void {
    const running = this.#running();
    if (!running) return;
    running.outcome = outcome;
    if (outcome === 'accepted') running.push.resolve({ statusCode: 200, body: { msg: 'OK' } });
    else running.push.reject(answers[outcome]);
  }

  #upload(key: number): void {
    const number = this.uploads++;
    if (this.#channel.state === 'connected') this.#deliver(key, number, false);
    else this.#missed.push({ key, number });
  }

  #deliver(key: number, number: number, replayed: boolean): void {
    const settles = this.sent.find(
      (asked) =>
        asked.expected === undefined &&
        asked.outcome !== 'failed' &&
        (asked.covered || !replayed) &&
        (asked.key === 'next' || asked.key === key),
    );
    if (settles) settles.expected = number;
    const body = Buffer.from(JSON.stringify({ key, number }));
    const upload = { chipid: '1', appid: '1', timestamp: 0, body };
    this.#listener.onUpload?.(replayed ? { ...upload, replayed } : upload);
  }

  #down(): void {
    if (this.#channel.state !== 'connected') return;
    this.#channel.state = 'disconnected';
    if (this.#complete) for (const asked of this.sent) asked.covered = true;
    this.#listener.onState?.('disconnected');
    this.#complete = false;
  }

  #up(recovers: boolean): void {
    if (this.#channel.state === 'connected') return;
    this.#channel.state = 'connected';
    this.#listener.onState?.('connected');
    if (recovers) this.#recover();
    else this.#listener.onFault?.('the history cannot be read');
  }

  #recover(): void {
    for (const { key, number } of this.#missed.splice(0)) this.#deliver(key, number, true);
    this.#complete = true;
    this.#save();
  }
}
