import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { asksToWait } from '../errors';
import type { Answer } from '../types';
import type { Semaphore } from '../util/semaphore';
import {
  AnswerBody,
  readAnswer,
  serviceText,
  type HttpAnswer,
  readRetryAfter,
  type ServiceClock,
} from './answer';
import type { CallAborted, Deadline, Deadlines } from './deadline';
import {
  errorCode,
  REFUSES_CERTIFICATE,
  statusError,
  transportError,
  type Failure,
} from './failures';
import type { Turns } from './pool';
import type { CallSpec, HttpRequest, UnsignedRequest } from '../protocol/call-spec';

/** The connections of one application, as the calls use them. */
export interface HttpContext {
  dispatcher: Dispatcher;
  origin: string;
  hasProxy: boolean;
  /** As many calls at once as there are connections: no time-out of undici counts the time in its queue. */
  places: Semaphore;
  turns: Turns;
  deadlines: Deadlines;
  /** Removes secrets from what the service says. */
  redact: (text: string) => string;
  random: () => number;
  clock: ServiceClock;
  /** Called with each call that has succeeded. It never throws. */
  onAnswered?: ((request: UnsignedRequest) => void) | undefined;
}

const MEBIBYTE = 1024 * 1024;

/** The longest answer that is read, in bytes. */
export const MAX_ANSWER = 64 * MEBIBYTE;

/** The most bytes that are read of an error's answer, which is enough for its `msg`, and of a compressed one. */
const MAX_ERROR_ANSWER = 64 * 1024;

/**
 * Once a reader needs no more of an answer, its rest is read if it is not known to be longer than this many bytes …
 */
const MAX_REST = 64 * 1024;
/**
 * … and comes within this many milliseconds, since only then the connection can be used again. To open another takes
 * 0.5 ms of CPU, over TLS 2 ms and two more ways to the service; to read 64 KiB and drop them, 0.1 ms.
 */
const REST_TIME = 1000;

/**
 * Bytes that a reader is given in one turn of the event loop. Node.js would pass on up to 2 MiB of a connection in one
 * turn, which takes 20 ms to parse: 300 ms with the 16 histories that recovery reads at once.
 */
const IN_A_TURN = 64 * 1024;
/** What a chunk costs besides its bytes, as a number of bytes: a chunk may be a single one. */
const COST_OF_CHUNK = 64;

/** The failure of a call that its deadline or its caller has ended. */
export const failureOf = ({ reason: kind, detail }: CallAborted, sent: boolean): Failure =>
  detail === undefined ? { kind, sent } : { kind, sent, detail };

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;

const contentEncoding = (value: string | string[] | undefined): string | undefined => {
  const encoding = headerText(value);
  return encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding) ? undefined : encoding;
};

/** The body of an answer that has not begun. */
const NO_BODY = new AnswerBody(0);
const NOTHING = NO_BODY.read();

const isSuccess = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300;

/**
 * One attempt of a call, from its place among the calls to the answer. A class with a single promise, since there may be
 * tens of thousands a second. It sits directly on undici's dispatch: `onRequestStart` comes right before the first byte is
 * written, which shows exactly whether a failed request can have reached the service.
 */
class Exchange<T> implements Dispatcher.DispatchHandler {
  readonly #http: HttpContext;
  readonly #spec: CallSpec<T>;
  readonly #deadline: Deadline;
  readonly #resolve: (answer: Answer<T>) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #isSettled = false;
  /** The answer from its headers on; its body is still to come. */
  #begun: HttpAnswer | undefined;
  #body = NO_BODY;
  /** Bytes that are still to come, if known, or else that are still read. */
  #rest = Infinity;
  /** Bytes that the reader was given in this turn. */
  #inTurn = 0;
  /** Ends the reading of a rest that nobody needs. */
  #restTimer: NodeJS.Timeout | undefined;
  /** Whether the body is collected whole, so that a body that is too long is a failure. */
  #isCollected = false;

  constructor(
    http: HttpContext,
    spec: CallSpec<T>,
    deadline: Deadline,
    resolve: (answer: Answer<T>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#http = http;
    this.#spec = spec;
    this.#deadline = deadline;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    const { places } = this.#http;
    if (places.acquire()) {
      this.#send();
      return;
    }
    const deadline = this.#deadline;
    // Not at once: the call that leaves its place to this one still has its connection.
    const turn = new Promise<void>((resolve, reject) => {
      const leave = places.wait(() => {
        deadline.listen(undefined);
        resolve();
      });
      deadline.listen((end) => {
        leave();
        reject(end);
      });
    });
    turn.then(
      () => this.#send(),
      (end: unknown) => this.#failed(failureOf(end as CallAborted, false)),
    );
  }

  #send(): void {
    const http = this.#http;
    const spec = this.#spec;
    const deadline = this.#deadline;
    let request: HttpRequest;
    try {
      request = spec.build();
    } catch (error) {
      this.#settle();
      this.#reject(error);
      return;
    }
    deadline.listen((end) => this.#onEnd(end));
    if (deadline.ended) return;
    const { origin, dispatcher } = http;
    const { method, path, headers, body = null } = request;
    try {
      dispatcher.dispatch(
        { origin, method, path, headers, body, headersTimeout: 0, bodyTimeout: 0 },
        this,
      );
    } catch (error) {
      this.onResponseError(undefined, error);
    }
  }

  #onEnd(end: CallAborted): void {
    // In a process that stood still, the answer may have come in time: it is read in this turn.
    if (end.reason === 'timeout' && this.#controller) setImmediate(() => this.#end(end));
    else this.#end(end);
  }

  #end(end: CallAborted): void {
    if (this.#isSettled) return;
    this.#fail(failureOf(end, this.#controller !== undefined));
    this.#controller?.abort(end);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The call may have ended while undici waited for a connection: then nothing is written.
    if (this.#isSettled) controller.abort(this.#deadline.ended ?? new Error('ended'));
    else this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (statusCode < 200) return;
    const spec = this.#spec;
    const isGood = isSuccess(statusCode);
    const encoding = contentEncoding(headers['content-encoding']);
    const isRead = isGood && encoding === undefined;
    const reader = isRead && spec.succeeds(statusCode) ? spec.reader : undefined;
    const retryAfter = isGood ? undefined : readRetryAfter(statusCode, headers, Date.now());
    const date = headerText(headers.date);
    this.#begun = { statusCode, body: NOTHING, reader, encoding, date, retryAfter };
    this.#rest = Number(headers['content-length'] ?? Infinity);
    this.#isCollected = isRead && !reader;
    if (reader) reader.announced = this.#rest;
    else this.#body = new AnswerBody(this.#isCollected ? MAX_ANSWER : MAX_ERROR_ANSWER);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // What undici had read before the end is not passed on after it.
    if (this.#isSettled) return;
    const reader = this.#begun?.reader;
    this.#rest -= chunk.length;
    if (this.#restTimer) {
      if (this.#rest < 0) this.#endEarly(controller);
    } else if (!reader) {
      if (!this.#body.add(chunk)) this.#endEarly(controller);
    } else if (!reader.add(chunk)) this.#readRest(controller);
    else {
      this.#inTurn += chunk.length + COST_OF_CHUNK;
      if (this.#inTurn < IN_A_TURN || this.#rest <= 0) return;
      this.#inTurn = 0;
      this.#http.turns.await(controller);
    }
  }

  /** Ends an answer and its connection: no more of it is needed, or can be collected. */
  #endEarly(controller: Dispatcher.DispatchController): void {
    if (this.#isCollected) {
      this.#fail({ kind: 'too-large', sent: true, detail: `${MAX_ANSWER / MEBIBYTE} MiB` });
    } else this.#answer();
    controller.abort(new Error('no more of the answer is needed'));
  }

  /** Reads a short rest that nobody needs, or ends the answer. */
  #readRest(controller: Dispatcher.DispatchController): void {
    // A sink may abort its own reading.
    if (this.#isSettled) return;
    if (this.#rest === Infinity) this.#rest = MAX_REST;
    const end = (): void => this.#endEarly(controller);
    if (this.#rest > MAX_REST) end();
    else {
      this.#restTimer = setTimeout(end, REST_TIME);
      this.#deadline.listen(end);
    }
  }

  onResponseEnd(): void {
    this.#answer();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: unknown): void {
    const begun = this.#begun;
    // An error status says enough, even if its body was cut off; and so does what a reader needed.
    if (this.#restTimer || (begun && !isSuccess(begun.statusCode))) this.#answer();
    else {
      const detail = errorCode(error);
      const isRead = begun !== undefined || !REFUSES_CERTIFICATE.test(detail);
      this.#fail({ kind: 'error', sent: this.#controller !== undefined && isRead, detail });
    }
  }

  /** Releases its place. @returns false if it has ended already */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#restTimer);
    this.#deadline.listen(undefined);
    this.#http.places.release();
    return true;
  }

  #answer(): void {
    const answer = this.#begun;
    if (!answer || !this.#settle()) return;
    answer.body = this.#body.read();
    const { statusCode } = answer;
    try {
      const body = this.#read(answer);
      const warning = this.#spec.warning?.(body);
      if (this.#spec.unsigned) this.#http.onAnswered?.(this.#spec.unsigned);
      this.#resolve(warning === undefined ? { statusCode, body } : { statusCode, body, warning });
    } catch (error) {
      this.#reject(error);
    }
  }

  /** @throws DeviceCloudError unless the answer is a success */
  #read(answer: HttpAnswer): T {
    const http = this.#http;
    const spec = this.#spec;
    const { statusCode, date, retryAfter } = answer;
    if (date !== undefined) http.clock.saw(date);
    if (spec.succeeds(statusCode)) return readAnswer(spec, answer, http.redact);
    if (retryAfter !== undefined) spec.paced?.onRetryAfter?.(retryAfter);
    const said = serviceText(answer, spec.call, http.redact);
    const error = statusError(spec.call, statusCode, said, spec.meaning?.(statusCode, said));
    throw retryAfter === undefined ? error : asksToWait(error, retryAfter);
  }

  #fail(failure: Failure): void {
    if (this.#settle()) this.#failed(failure);
  }

  #failed(failure: Failure): void {
    const { timeout } = this.#deadline;
    const error = transportError(this.#spec.call, failure, this.#http.hasProxy, timeout);
    this.#reject(error);
  }
}

/** Makes one attempt of a call. @throws DeviceCloudError */
export const attempt = <T>(
  http: HttpContext,
  spec: CallSpec<T>,
  deadline: Deadline,
): Promise<Answer<T>> =>
  new Promise((resolve, reject) => new Exchange(http, spec, deadline, resolve, reject).start());

/**
 * Makes one call with one attempt: a command, which could act twice if it were repeated, or a read that reaches its device.
 * @param timeout milliseconds for the whole call, waiting for a connection included
 * @throws DeviceCloudError
 */
export const callOnce = <T>(
  http: HttpContext,
  spec: CallSpec<T>,
  timeout: number,
  signal?: AbortSignal,
): Promise<Answer<T>> =>
  http.deadlines.run((deadline) => attempt(http, spec, deadline), timeout, signal);
