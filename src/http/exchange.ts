import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { AnswerBody } from './answer-body';
import { readRetryAfter } from './headers';
import type { CallAborted, Deadline } from './deadline';

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

/** A request ready to be sent: every part validated and encoded, since undici loses a slot to a bad one. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT';
  /** Path and query, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface HttpAnswer {
  statusCode: number;
  /** Possibly only its beginning, if the status is an error or the body is compressed. */
  body: Buffer;
  /** What has read the body in place of `body`. */
  reader: BodyReader | undefined;
  /** The value of `Content-Encoding`, if there is one other than `identity`. */
  encoding: string | undefined;
  /** The header `Date`: the clock of the service, or of the proxy that answered. */
  date: string | undefined;
  /** Milliseconds for which it asks to wait (`Retry-After`), if its status is an error. */
  retryAfter: number | undefined;
}

/** Why there was no answer. If `sent` is false, no byte of the request was written. */
export interface Failure {
  kind: 'timeout' | 'aborted' | 'error' | 'too-large';
  sent: boolean;
  /** The error code of Node.js or undici, for example `ECONNREFUSED`; the reason of an abort; the limit of `too-large`. */
  detail?: string;
}

/** The failure of a call that its deadline or its caller has ended. */
export const failureOf = ({ reason: kind, detail }: CallAborted, sent: boolean): Failure =>
  detail === undefined ? { kind, sent } : { kind, sent, detail };

/** Reads the body of a success while it arrives. Nothing of it is collected, so its length needs no limit. */
export interface BodyReader {
  /** Bytes that have arrived, in all attempts. */
  readonly bytes: number;
  /** Whether anything was passed on. */
  readonly hasBegun: boolean;
  /** Set to the length of the answer, in bytes; infinite if the service does not announce it. */
  announced: number;
  /** Forgets an attempt that failed before anything was passed on. */
  restart(): void;
  /** Takes the next bytes. Never throws. @returns false if no more are needed: the answer is ended */
  add(chunk: Buffer): boolean;
  /**
   * Returns what the answer is, once it has ended or `add` has returned false.
   * @throws SyntaxError if it is not JSON; JsonLimitError, a subclass, if it exceeds a limit
   */
  end(): unknown;
}

/** Receives the outcome of a request, once. */
export interface Receiver {
  /** Returns what reads the body of an answer with this status while it arrives; undefined if it is to be collected. */
  readerFor(statusCode: number): BodyReader | undefined;
  onAnswer(answer: HttpAnswer): void;
  onFailure(failure: Failure): void;
}

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;

const contentEncoding = (value: string | string[] | undefined): string | undefined => {
  const encoding = headerText(value);
  return encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding) ? undefined : encoding;
};

/** The body of an answer that has not begun. */
const NO_BODY = new AnswerBody(0);

const isSuccess = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300;

/** The code of a transport error; never its text, which may hold a URL. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string') return code;
  // Happy Eyeballs: one error for several addresses, each with its own code.
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  return error.name;
}

/**
 * One request and its answer. A class, since there is one for each call. The handler sits directly
 * on undici's dispatch: `onRequestStart` comes right before the first byte is written, which shows exactly whether a
 * failed request can have reached the service.
 */
class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #isSettled = false;
  #statusCode = 0;
  #encoding: string | undefined;
  #date: string | undefined;
  #retryAfter: number | undefined;
  #body = NO_BODY;
  #reader: BodyReader | undefined;
  /** Bytes that are still to come, if known, or else that are still read. */
  #rest = Infinity;
  /** Bytes that the reader was given in this turn. */
  #inTurn = 0;
  /** Ends the reading of a rest that nobody needs. */
  #restTimer: NodeJS.Timeout | undefined;
  /** Whether the body is collected whole, so that a body that is too long is a failure. */
  #isCollected = false;

  readonly #deadline: Deadline;
  readonly #receiver: Receiver;

  constructor(deadline: Deadline, receiver: Receiver) {
    this.#deadline = deadline;
    this.#receiver = receiver;
  }

  /** The deadline has ended the call. */
  onEnd(end: CallAborted): void {
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
    this.#statusCode = statusCode;
    this.#encoding = contentEncoding(headers['content-encoding']);
    this.#date = headerText(headers.date);
    if (!isSuccess(statusCode)) this.#retryAfter = readRetryAfter(headers, Date.now());
    else if (this.#encoding === undefined) {
      this.#reader = this.#receiver.readerFor(statusCode);
      this.#isCollected = !this.#reader;
      this.#rest = Number(headers['content-length'] ?? Infinity);
      if (this.#reader) this.#reader.announced = this.#rest;
    }
    if (this.#isCollected)
      this.#body = new AnswerBody(MAX_ANSWER, Number(headers['content-length']));
    else if (!this.#reader) this.#body = new AnswerBody(MAX_ERROR_ANSWER);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // What undici had read before the end is not passed on after it.
    if (this.#isSettled) return;
    this.#rest -= chunk.length;
    if (this.#restTimer) {
      if (this.#rest < 0) this.#endEarly(controller);
    } else if (!this.#reader) {
      if (!this.#body.add(chunk)) this.#endEarly(controller);
    } else if (!this.#reader.add(chunk)) this.#readRest(controller);
    else {
      this.#inTurn += chunk.length + COST_OF_CHUNK;
      if (this.#inTurn >= IN_A_TURN && this.#rest > 0) this.#awaitTurn(controller);
    }
  }

  /** Reads no more before the event loop has turned. */
  #awaitTurn(controller: Dispatcher.DispatchController): void {
    this.#inTurn = 0;
    controller.pause();
    setImmediate(() => controller.resume());
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
    // An error status says enough, even if its body was cut off; and so does what a reader needed.
    if (this.#restTimer || (this.#statusCode !== 0 && !isSuccess(this.#statusCode))) this.#answer();
    else
      this.#fail({ kind: 'error', sent: this.#controller !== undefined, detail: errorCode(error) });
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#restTimer);
    this.#deadline.listen(undefined);
    return true;
  }

  #answer(): void {
    if (!this.#settle()) return;
    const [statusCode, encoding, date] = [this.#statusCode, this.#encoding, this.#date];
    const [retryAfter, reader] = [this.#retryAfter, this.#reader];
    const body = this.#body.read();
    this.#receiver.onAnswer({ statusCode, body, reader, encoding, date, retryAfter });
  }

  #fail(failure: Failure): void {
    if (this.#settle()) this.#receiver.onFailure(failure);
  }
}

/**
 * Sends one request and reads its answer: whole, or by the receiver's reader as far as that needs it.
 * @param receiver gets the answer, or the reason for the failure
 */
export function exchange(
  dispatcher: Dispatcher,
  origin: string,
  { method, path, headers, body }: HttpRequest,
  deadline: Deadline,
  receiver: Receiver,
): void {
  const handler = new Exchange(deadline, receiver);
  deadline.listen((end) => handler.onEnd(end));
  if (deadline.ended) return;
  try {
    dispatcher.dispatch(
      { origin, method, path, headers, body: body ?? null, headersTimeout: 0, bodyTimeout: 0 },
      handler,
    );
  } catch (error) {
    handler.onResponseError(undefined, error);
  }
}
