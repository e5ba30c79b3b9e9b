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
  /** Uploads that were judged. */
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

/** The error for a request whose push was accepted, and whose reply did not come. */
const noReply = (name: string, { what, more }: Ending): DeviceCloudError =>
  new DeviceCloudError('NO_REPLY', `${capitalized(what)}. ${name} was accepted. ${more}`.trim());

/** Why no upload can be the reply any more: a few words, and sentences that explain it. */
interface Ending {
  readonly what: string;
  readonly more: string;
}

/**
 * A request whose push is being sent, or has been. It ends once the outcome of the push is known and either an upload has
 * answered it or no upload can.
 */
export class PendingRequest {
  /** Settles with the reply; it may be left alone. */
  readonly reply: Promise<Reply>;
  readonly #wanted: Wanted;
  readonly #deadline: Deadline;
  /** Is called once no upload can answer it any more. */
  readonly #closed: () => void;
  readonly #tally = new Tally();
  readonly #sentAt = performance.now();
  #push: { answer: Answer<PushAnswer> } | { error: unknown } | undefined;
  #match: { reading: UploadReading; payload: unknown } | undefined;
  #over: Ending | undefined;
  #aborted: string | undefined;
  /** Ends the judgement that is under way. */
  #endJudgement: (() => void) | undefined;
  #resolve!: (reply: Reply) => void;
  #reject!: (error: unknown) => void;

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
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // It may not be awaited yet, and its rejection would end the process.
    this.reply.catch(() => undefined);
  }

  /** Whether an upload can still be its reply. */
  get isOpen(): boolean {
    return !this.#match && this.#over === undefined && this.#aborted === undefined;
  }

  /** Whether only the reply is missing. */
  get isAwaiting(): boolean {
    return this.#push !== undefined && this.isOpen;
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
    if (!this.isOpen) return false;
    const decoded = reading.decoded(this.#wanted.decoding);
    // It has settled, since it was judged.
    this.#match = { reading, payload: decoded instanceof Promise ? undefined : decoded?.value };
    this.#close();
    return true;
  }

  /** The push was answered. */
  accepted(answer: Answer<PushAnswer>): void {
    this.#push = { answer };
    this.#settle();
  }

  /** The push failed: for certain, or it is unknown whether it arrived. */
  pushFailed(error: unknown): void {
    this.#push = { error };
    if (!isUnknown(error)) this.#over ??= { what: '', more: '' };
    if (this.#over !== undefined) this.#close();
    else this.#settle();
  }

  /** Its time is over. */
  expire(): void {
    const { matcher, decoding, replyTimeout } = this.#wanted;
    const came = this.#tally.text(matcher.wanted, decoding);
    this.#end(`no upload answered in ${replyTimeout} s`, came);
  }

  /** The caller, or the client's close, ends it. */
  abort({ detail }: CallAborted): void {
    this.#aborted ??= detail ?? 'the caller aborted it';
    this.#close();
  }

  #await(verdict: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#end(`the condition did not answer in ${PATIENCE / 1000} s for one upload`);
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
    if (thrown instanceof PatternFailed) this.#end(thrown.message);
    this.#tally.failed++;
    this.#tally.failure = thrownMessage(thrown);
    return false;
  }

  #end(what: string, more = ''): void {
    if (!this.isOpen) return;
    this.#over = { what, more };
    this.#close();
  }

  #close(): void {
    this.#deadline.clear();
    this.#endJudgement?.();
    this.#closed();
    this.#settle();
  }

  /** Ends it if everything is known. A push that was broken off has an outcome in a moment. */
  #settle(): void {
    const push = this.#push;
    const { name } = this.#wanted;
    if (!push || this.isOpen) return;
    if ('error' in push && (!this.#match || !isUnknown(push.error) || this.#aborted)) {
      this.#reject(push.error);
    } else if (this.#aborted !== undefined) {
      this.#reject(abandoned(name, this.#aborted));
    } else if (this.#match) {
      this.#resolve(this.#replyOf(this.#match, push));
    } else {
      this.#reject(noReply(name, this.#over ?? { what: '', more: '' }));
    }
  }

  #replyOf(
    { reading, payload }: { reading: UploadReading; payload: unknown },
    push: { answer: Answer<PushAnswer> } | { error: unknown },
  ): Reply {
    const elapsed = Math.max(0, Math.round(reading.arrived - this.#sentAt));
    const reply: Reply = { payload, upload: reading.upload, elapsed };
    if ('answer' in push) {
      return { ...reply, answer: push.answer.body, statusCode: push.answer.statusCode };
    }
    const { error } = push;
    const status = isDeviceCloudError(error) ? error.statusCode : undefined;
    return { ...reply, uncertain: true, ...(status !== undefined && { statusCode: status }) };
  }
}

const abandoned = (name: string, why: string): DeviceCloudError =>
  new DeviceCloudError(
    'CONNECTION_LOST',
    `The reply is no longer awaited: ${why}. ${name} was sent and accepted.`,
  );

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
