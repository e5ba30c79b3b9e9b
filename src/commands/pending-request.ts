import { DeviceCloudError, ERRORS, isDeviceCloudError, isSilence } from '../errors';
import type { CallAborted } from '../http/deadline';
import type { RecoverOptions } from '../recovery/options';
import type { Answer, Charset, PushAnswer } from '../types';
import type { Decoding, Matcher, Reply, RequestProgress, UploadReading } from './reply';

/** A request that has been checked. */
export interface Request {
  chipid: string;
  /** The push, as errors name it: `Push to device 10000001`. */
  name: string;
  /** Sends the push, once. */
  push: () => Promise<Answer<PushAnswer>>;
  /** Milliseconds that the channel may take to connect. */
  timeout: number;
  /** Milliseconds from sending the push. */
  replyTimeout: number;
  matcher: Matcher;
  decoding: Decoding;
  /** Of uploads that are not UTF-8. */
  charset: Charset;
  recover: RecoverOptions;
  signal: AbortSignal | undefined;
  /** Never throws. */
  onProgress: (progress: RequestProgress) => void;
}

/** Whether it is unknown if a push arrived: then a reply shows that it did. */
const isUnknown = (error: unknown): boolean =>
  isSilence(error) && isDeviceCloudError(error) && error.uncertain;

const count = (uploads: number): string => (uploads === 1 ? '1 upload' : `${uploads} uploads`);

interface Match {
  readonly reading: UploadReading;
  readonly payload: unknown;
}

/** How a push has ended. */
export type PushOutcome = { answer: Answer<PushAnswer> } | { error: unknown };

/**
 * A request whose push is being sent, or has been. It ends once the outcome of the push is known and either an upload has
 * answered it or no upload can.
 */
export class PendingRequest {
  readonly #request: Request;
  /** Is called once no upload can answer it any more. */
  readonly #closed: () => void;
  readonly #sentAt = performance.now();
  /** Uploads that were judged, how many of them could not be decoded, and recovered ones that may be older than the request. */
  #judged = 0;
  #undecodable = 0;
  #older = 0;
  #isOpen = true;
  /** Resolves with the reply, or with the error of a request that none can answer any more. */
  readonly #ended: Promise<Match | { error: unknown }>;
  #resolve!: (end: Match | { error: unknown }) => void;

  /** @param isCovered whether recovered uploads count: nothing that came before the request can be one */
  constructor(
    request: Request,
    public isCovered: boolean,
    closed: () => void,
  ) {
    this.#request = request;
    this.#closed = closed;
    this.#ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Judges an upload, and ends with it if it is the reply. @returns whether it is */
  take(reading: UploadReading): boolean {
    if (!this.#isOpen) return false;
    if (reading.upload.replayed && !this.isCovered) {
      this.#older++;
      return false;
    }
    this.#judged++;
    const { decoding, matcher } = this.#request;
    const decoded = reading.decoded(decoding);
    if (!decoded) this.#undecodable++;
    if (!decoded || !matcher.matches(decoded.value, reading)) return false;
    this.#close({ reading, payload: decoded.value });
    return true;
  }

  /** Its time is over, or the caller, or the client's close, ends it. */
  end({ reason, detail = 'the caller aborted it' }: CallAborted): void {
    const { name, replyTimeout } = this.#request;
    const error =
      reason === 'timeout'
        ? new DeviceCloudError(
            'NO_REPLY',
            `No upload answered in ${replyTimeout / 1000} s. ${name} was accepted. ${this.#came()}`,
          )
        : new DeviceCloudError(
            'CONNECTION_LOST',
            `The reply is no longer awaited: ${detail}. ${name} was sent and accepted.`,
          );
    this.#close({ error });
  }

  /** The push has ended. If it has failed for certain, no upload is its reply. @throws DeviceCloudError if there is no reply */
  async reply(push: PushOutcome): Promise<Reply> {
    const failure = 'error' in push ? push : undefined;
    if (failure && !isUnknown(failure.error)) {
      this.#close(failure);
      throw failure.error;
    }
    const end = await this.#ended;
    if ('error' in end) throw (failure ?? end).error;
    const { upload, arrived } = end.reading;
    const elapsed = Math.max(0, Math.round(arrived - this.#sentAt));
    const reply: Reply = { payload: end.payload, upload, elapsed };
    if ('answer' in push)
      return { ...reply, answer: push.answer.body, statusCode: push.answer.statusCode };
    const { statusCode } = push.error as DeviceCloudError;
    return { ...reply, uncertain: true, ...(statusCode !== undefined && { statusCode }) };
  }

  #close(end: Match | { error: unknown }): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#closed();
    this.#resolve(end);
  }

  /** What came meanwhile, and why nothing of it was the reply, as sentences. */
  #came(): string {
    const { matcher, decoding } = this.#request;
    if (this.#judged + this.#older === 0)
      return 'No upload came: check that the device answers with an upload, and how long it takes.';
    const parts = [`Of ${count(this.#judged)} none ${matcher.wanted || 'is a reply'}`];
    const how = typeof decoding === 'function' ? 'by the type of the device' : `as ${decoding}`;
    if (this.#undecodable > 0) parts.push(`${this.#undecodable} could not be decoded ${how}`);
    if (this.#older > 0)
      parts.push(`${count(this.#older)} that may be older than the request did not count`);
    return `${parts.join('; ')}. ${ERRORS.NO_REPLY.advice}`;
  }
}
