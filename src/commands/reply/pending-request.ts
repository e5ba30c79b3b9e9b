import { DeviceCloudError, ERRORS, isDeviceCloudError, isSilence } from '../../errors';
import type { CallAborted, Deadline } from '../../http/deadline';
import type { Answer, PushAnswer } from '../../types';
import { PatternFailed } from '../../util/bounded-pattern';
import { capitalized, oneLine } from '../../util/show';
import { thrownText } from '../../util/thrown';
import type { Decoding, Matcher, UploadReading } from './matcher';
import type { Reply } from './types';

/** Milliseconds that a condition may take to judge one upload: those behind it wait. */
const PATIENCE = 5000;

/** What a request waits for, and for how long. */
export interface Wanted {
  /** The push, as errors name it: `Push to device 10000001`. */
  name: string;
  matcher: Matcher;
  decoding: Decoding;
  /** Seconds from sending the push. */
  replyTimeout: number;
}

/** Whether it is unknown if a push arrived: then a reply shows that it did. */
const isUnknown = (error: unknown): boolean =>
  isSilence(error) && isDeviceCloudError(error) && error.uncertain;

const MAX_ERROR = 200;

/** Counts what came while a request waited, so that its error can say why nothing was the reply. */
class Tally {
  judged = 0;
  /** Judged uploads that could not be decoded. */
  undecodable = 0;
  /** Judged uploads on which the condition failed, and how it did the last time. */
  failed = 0;
  failure = '';
  /** Recovered uploads that may be older than the request. */
  older = 0;
  /** Uploads for which there was no room while others were judged. */
  dropped = 0;

  /** What came, as a sentence. */
  text(wanted: string, decoding: Decoding): string {
    if (this.judged + this.older + this.dropped === 0) {
      return 'No upload came: check that the device answers with an upload, and how long it takes.';
    }
    const parts = [`Of ${count(this.judged)} none ${wanted || 'is a reply'}`];
    const how = typeof decoding === 'function' ? 'by the type of the device' : `as ${decoding}`;
    if (this.undecodable > 0) parts.push(`${this.undecodable} could not be decoded ${how}`);
    if (this.failed > 0) {
      parts.push(`on ${this.failed} the condition failed (${oneLine(this.failure, MAX_ERROR)})`);
    }
    if (this.older > 0) {
      parts.push(`${count(this.older)} that may be older than the request did not count`);
    }
    if (this.dropped > 0) {
      parts.push(`${count(this.dropped)} came faster than they could be judged`);
    }
    return `${parts.join('; ')}. ${ERRORS.NO_REPLY.advice}`;
  }
}

const count = (uploads: number): string => (uploads === 1 ? '1 upload' : `${uploads} uploads`);

interface Match {
  readonly reading: UploadReading;
  readonly payload: unknown;
}

/** Why no upload can be the reply any more: a few words, and sentences that explain it; or who has ended the wait. */
type Failure = { readonly what: string; readonly more: string } | { readonly aborted: string };

/** How a push has ended. */
export type PushOutcome = { answer: Answer<PushAnswer> } | { error: unknown };

/**
 * A request whose push is being sent, or has been. It ends once the outcome of the push is known and either an upload has
 * answered it or no upload can.
 */
export class PendingRequest {
  readonly #wanted: Wanted;
  readonly #deadline: Deadline;
  /** Is called once no upload can answer it any more. */
  readonly #closed: () => void;
  readonly #tally = new Tally();
  readonly #sentAt = performance.now();
  #end: Match | Failure | undefined;
  /** Resolves with {@link #end}. */
  readonly #ended: Promise<Match | Failure>;
  #resolve!: (end: Match | Failure) => void;
  /** Ends the judgement that is under way. */
  #endJudgement: (() => void) | undefined;

  /**
   * @param isCovered whether recovered uploads count: nothing that came before the request can be one
   * @param deadline of the reply
   */
  constructor(
    wanted: Wanted,
    public isCovered: boolean,
    deadline: Deadline,
    closed: () => void,
  ) {
    this.#wanted = wanted;
    this.#deadline = deadline;
    this.#closed = closed;
    this.#ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** Judges an upload. Never throws, and a promise never rejects. */
  judge(reading: UploadReading): boolean | Promise<boolean> {
    const tally = this.#tally;
    if (!this.isOpen) return false;
    if (reading.upload.replayed && !this.isCovered) {
      tally.older++;
      return false;
    }
    tally.judged++;
    const decoded = reading.decoded(this.#wanted.decoding);
    try {
      const verdict: unknown =
        decoded instanceof Promise
          ? decoded.then((payload) => this.#matches(payload, reading))
          : this.#matches(decoded, reading);
      const isSettled = typeof verdict !== 'object' || verdict === null;
      return isSettled ? verdict === true : this.#await(Promise.resolve(verdict));
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  #matches(payload: { value: unknown } | undefined, reading: UploadReading): unknown {
    if (payload) return this.#wanted.matcher.matches(payload.value, reading);
    this.#tally.undecodable++;
    return false;
  }

  /** An upload was not judged, since too many others were waiting to be. */
  drop(): void {
    this.#tally.dropped++;
  }

  /** Settles it with an upload that it matches. @returns false if it has ended meanwhile */
  settleWith(reading: UploadReading): boolean {
    const decoded = reading.decoded(this.#wanted.decoding);
    // It has settled, since it was judged.
    const payload = decoded instanceof Promise ? undefined : decoded?.value;
    return this.#close({ reading, payload });
  }

  expire(): void {
    const { matcher, decoding, replyTimeout } = this.#wanted;
    const came = this.#tally.text(matcher.wanted, decoding);
    this.#close({ what: `no upload answered in ${replyTimeout} s`, more: came });
  }

  /** The caller, or the client's close, ends it. */
  abort({ detail }: CallAborted): void {
    this.#close({ aborted: detail ?? 'the caller aborted it' });
  }

  /** The push has ended. If it has failed for certain, no upload is its reply. */
  pushed(push: PushOutcome): void {
    if ('error' in push && !isUnknown(push.error)) this.#close({ what: '', more: '' });
  }

  /** The reply. @param push how the push has ended @throws DeviceCloudError */
  async reply(push: PushOutcome): Promise<Reply> {
    const end = await this.#ended;
    const { name } = this.#wanted;
    if ('error' in push && !('reading' in end && isUnknown(push.error))) throw push.error;
    if ('reading' in end) return this.#replyOf(end, push);
    if ('aborted' in end)
      throw new DeviceCloudError(
        'CONNECTION_LOST',
        `The reply is no longer awaited: ${end.aborted}. ${name} was sent and accepted.`,
      );
    const text = `${capitalized(end.what)}. ${name} was accepted. ${end.more}`;
    throw new DeviceCloudError('NO_REPLY', text.trim());
  }

  #await(verdict: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const what = `the condition did not answer in ${PATIENCE / 1000} s for one upload`;
        this.#close({ what, more: '' });
      }, PATIENCE);
      const settle = (matches: boolean): void => {
        clearTimeout(timer);
        this.#endJudgement = undefined;
        resolve(matches);
      };
      this.#endJudgement = () => settle(false);
      verdict.then(
        (matches) => settle(matches === true),
        (thrown: unknown) => settle(this.#failed(thrown)),
      );
    });
  }

  #failed(thrown: unknown): false {
    if (thrown instanceof PatternFailed) this.#close({ what: thrown.message, more: '' });
    this.#tally.failed++;
    this.#tally.failure = thrownMessage(thrown);
    return false;
  }

  /** @returns false if it has ended before */
  #close(end: Match | Failure): boolean {
    if (!this.isOpen) return false;
    this.#end = end;
    this.#deadline.clear();
    this.#endJudgement?.();
    this.#closed();
    this.#resolve(end);
    return true;
  }

  #replyOf({ reading, payload }: Match, push: PushOutcome): Reply {
    const elapsed = Math.max(0, Math.round(reading.arrived - this.#sentAt));
    const reply: Reply = { payload, upload: reading.upload, elapsed };
    if ('answer' in push)
      return { ...reply, answer: push.answer.body, statusCode: push.answer.statusCode };
    const { error } = push;
    const status = isDeviceCloudError(error) ? error.statusCode : undefined;
    return { ...reply, uncertain: true, ...(status !== undefined && { statusCode: status }) };
  }
}

/** JSONata throws objects with a message of their own, which are no errors. */
function thrownMessage(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
      const { message } = thrown;
      if (typeof message === 'string') return message;
    }
  } catch {
    // A getter that throws.
  }
  return thrownText(thrown);
}
