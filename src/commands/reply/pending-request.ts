import { DeviceCloudError, ERRORS, isDeviceCloudError, isSilence } from '../../errors';
import type { CallAborted, Deadline } from '../../http/deadline';
import type { Answer, PushAnswer } from '../../types';
import { capitalized, oneLine } from '../../util/show';
import { thrownText } from '../../util/thrown';
import type { Decoding, Matcher, UploadReading } from './matcher';
import type { Reply } from './types';

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

  /** What came, as a sentence. */
  text(wanted: string, decoding: Decoding): string {
    if (this.judged + this.older === 0) {
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

  /**
   * Judges an upload, and ends with it if it is the reply. Never throws.
   * @returns whether it is
   */
  take(reading: UploadReading): boolean {
    const tally = this.#tally;
    if (!this.isOpen) return false;
    if (reading.upload.replayed && !this.isCovered) {
      tally.older++;
      return false;
    }
    tally.judged++;
    const { decoding, matcher } = this.#wanted;
    const payload = reading.decoded(decoding);
    if (!payload) tally.undecodable++;
    else if (this.#matches(matcher, payload.value, reading))
      return this.#close({ reading, payload: payload.value });
    return false;
  }

  #matches(matcher: Matcher, payload: unknown, reading: UploadReading): boolean {
    try {
      return matcher.matches(payload, reading);
    } catch (thrown) {
      this.#tally.failed++;
      this.#tally.failure = thrownText(thrown);
      return false;
    }
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

  /** @returns false if it has ended before */
  #close(end: Match | Failure): boolean {
    if (!this.isOpen) return false;
    this.#end = end;
    this.#deadline.clear();
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
