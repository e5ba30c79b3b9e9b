import type { Dispatcher } from 'undici';
import type { Answer } from '../types';
import { backoff } from '../util/backoff';
import { readAnswer, serviceText, type CallSpec, type UnsignedRequest } from './answer';
import type { CallAborted, Deadline, Deadlines, Extension } from './deadline';
import { isDeviceCloudError, isWorthRetry } from '../errors';
import {
  exchange,
  failureOf,
  type BodyReader,
  type Failure,
  type HttpAnswer,
  type Receiver,
} from './exchange';
import { statusError, transportError } from './failures';
import type { Limiter } from './limiter';
import type { ServiceClock } from './headers';

/** Observes an attempt of a call. It never throws. */
export interface ObservedCall {
  /** @param code of its error, if it is one */
  ended(answer: HttpAnswer | undefined, code: string | undefined): void;
}

/** Observes each attempt of a call that is sent. It never throws. */
export interface CallObserver {
  onCall(request: UnsignedRequest): ObservedCall | undefined;
}

/** The connections of one application, as the calls use them. */
export interface HttpContext {
  dispatcher: Dispatcher;
  origin: string;
  /** Scheme, host and port of the proxy, if one is used. */
  proxy: string | undefined;
  limiter: Limiter;
  deadlines: Deadlines;
  /** Removes secrets from what the service says. */
  redact: (text: string) => string;
  random: () => number;
  clock: ServiceClock;
  observer?: CallObserver | undefined;
}

/** How often a read that only touches the cloud is retried. */
const RETRIES = 2;
const RETRY_BASE = 200;
const RETRY_CAP = 2000;

/**
 * One attempt of a call, from its place in the limiter to the answer. A class with a single promise,
 * since there may be tens of thousands a second.
 */
class CallAttempt<T> implements Receiver {
  readonly #http: HttpContext;
  readonly #spec: CallSpec<T>;
  readonly #deadline: Deadline;
  readonly #clears: boolean;
  readonly #resolve: (answer: Answer<T>) => void;
  readonly #reject: (error: unknown) => void;
  #observed: ObservedCall | undefined;

  /** @param clears whether it clears the deadline when it ends */
  constructor(
    http: HttpContext,
    spec: CallSpec<T>,
    deadline: Deadline,
    clears: boolean,
    resolve: (answer: Answer<T>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#http = http;
    this.#spec = spec;
    this.#deadline = deadline;
    this.#clears = clears;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    const turn = this.#http.limiter.acquire(this.#deadline);
    if (turn) {
      turn.then(
        () => this.#send(),
        (end: unknown) => this.#fail(failureOf(end as CallAborted, false)),
      );
    } else this.#send();
  }

  readerFor(statusCode: number): BodyReader | undefined {
    const { reader, succeeds } = this.#spec;
    return reader && succeeds(statusCode) ? reader : undefined;
  }

  onAnswer(answer: HttpAnswer): void {
    this.#http.limiter.release();
    this.#clear();
    try {
      const { statusCode } = answer;
      const body = this.#read(answer);
      const warning = this.#spec.warning?.(body);
      this.#observed?.ended(answer, undefined);
      this.#resolve(warning === undefined ? { statusCode, body } : { statusCode, body, warning });
    } catch (error) {
      this.#observed?.ended(answer, codeOf(error));
      this.#reject(error);
    }
  }

  onFailure(failure: Failure): void {
    this.#http.limiter.release();
    this.#fail(failure);
  }

  #send(): void {
    const [http, spec] = [this.#http, this.#spec];
    spec.reader?.restart();
    if (http.observer && spec.unsigned) this.#observed = http.observer.onCall(spec.unsigned);
    try {
      exchange(http.dispatcher, http.origin, spec.build(), this.#deadline, this);
    } catch (error) {
      http.limiter.release();
      this.#clear();
      this.#reject(error);
    }
  }

  /** @throws DeviceCloudError unless the answer is a success */
  #read(answer: HttpAnswer): T {
    const [http, spec] = [this.#http, this.#spec];
    const { statusCode, date, retryAfter } = answer;
    if (date !== undefined) http.clock.saw(date);
    if (spec.succeeds(statusCode)) return readAnswer(spec, answer, http.redact);
    if (retryAfter !== undefined) spec.paced?.onRetryAfter?.(retryAfter);
    const said = serviceText(answer, spec.call, http.redact);
    throw statusError(spec.call, statusCode, said, spec.meaning?.(statusCode, said));
  }

  #fail(failure: Failure): void {
    this.#clear();
    const { seconds } = this.#deadline;
    const error = transportError(this.#spec.call, failure, this.#http, seconds);
    this.#observed?.ended(undefined, error.code);
    this.#reject(error);
  }

  #clear(): void {
    if (this.#clears) this.#deadline.clear();
  }
}

const codeOf = (error: unknown): string => (isDeviceCloudError(error) ? error.code : 'ERROR');

const attempt = <T>(
  http: HttpContext,
  spec: CallSpec<T>,
  deadline: Deadline,
  clears: boolean,
): Promise<Answer<T>> =>
  new Promise((resolve, reject) =>
    new CallAttempt(http, spec, deadline, clears, resolve, reject).start(),
  );

function pause(ms: number, deadline: Deadline): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(over, ms);
    function over(): void {
      clearTimeout(timer);
      deadline.listen(undefined);
      resolve();
    }
    deadline.listen(over);
  });
}

/** A read that only touches the cloud: any other call goes out once, since a repeated one could act twice. */
const mayRepeat = ({ call, paced }: Pick<CallSpec<unknown>, 'call' | 'paced'>): boolean =>
  call.reach === 'cloud' && !paced;

/** The bytes of an answer that is read while it arrives that must come in each time-out after the first … */
const PROGRESS = 64 * 1024;
/** … and how many time-outs it may take: ten minutes with a time-out of 15 s, for 200 MB at 3 Mbit/s. */
const MOST_TIMEOUTS = 40;

/** Lets a call take further time-outs while its answer makes progress. */
function extensionFor(reader: BodyReader, seconds: number): Extension {
  let timeouts = 0;
  let seen = 0;
  return () => {
    const came = reader.bytes - seen;
    if (seen > 0 && came < PROGRESS) {
      return `less than ${PROGRESS / 1024} KiB of the answer came in ${seconds} s`;
    }
    if (++timeouts === MOST_TIMEOUTS) {
      return `the answer did not end within ${MOST_TIMEOUTS * seconds} s`;
    }
    seen += came;
    return came > 0;
  };
}

async function attempts<T>(
  http: HttpContext,
  spec: CallSpec<T>,
  deadline: Deadline,
): Promise<Answer<T>> {
  for (let failed = 0; ; failed++) {
    try {
      return await attempt(http, spec, deadline, false);
    } catch (error) {
      if (failed === RETRIES || !isWorthRetry(error) || spec.reader?.hasBegun) throw error;
      if (!deadline.ended)
        await pause(backoff(failed, RETRY_BASE, RETRY_CAP, http.random), deadline);
      if (deadline.ended) throw error;
    }
  }
}

/**
 * Makes one call within a deadline, which the caller clears. A read that only touches the cloud is retried at most
 * twice.
 * @param deadline of the whole call: waiting for a connection and every attempt
 * @throws DeviceCloudError
 */
export const callWithin = <T>(
  http: HttpContext,
  spec: CallSpec<T>,
  deadline: Deadline,
): Promise<Answer<T>> =>
  mayRepeat(spec) ? attempts(http, spec, deadline) : attempt(http, spec, deadline, false);

/**
 * Makes one call, as {@link callWithin} does.
 * @param seconds for the whole call; of one whose answer is read while it arrives, until its first bytes, and again
 *   for each further 64 KiB, forty times at most
 * @throws DeviceCloudError; synchronously, not as a rejection, if the signal is invalid
 */
export function callService<T>(
  http: HttpContext,
  spec: CallSpec<T>,
  seconds: number,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const { reader } = spec;
  const deadline = http.deadlines.start(seconds, signal, reader && extensionFor(reader, seconds));
  return mayRepeat(spec)
    ? attempts(http, spec, deadline).finally(() => deadline.clear())
    : attempt(http, spec, deadline, true);
}
