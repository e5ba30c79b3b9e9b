import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { readRetryAfter } from '../pace/retry-after';
import { AnswerBody } from './answer-body';
import type { CallAborted, Deadline } from './deadline';

const MEBIBYTE = 1024 * 1024;

/** The longest answer that is read, in bytes. */
export const MAX_ANSWER = 64 * MEBIBYTE;

/** The longest history that is read to recover uploads, in bytes: many devices may be read at once. */
export const MAX_RECOVERY_ANSWER = 16 * MEBIBYTE;

/** The most bytes that are read of an error's answer: enough for its `msg`. */
const MAX_ERROR_ANSWER = 64 * 1024;

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
  /** For an error status, possibly only its beginning. */
  body: Buffer;
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

/** Receives the outcome of a request, once. */
export interface Receiver {
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
 * One request and its answer. A class with plain fields, since there is one for each call. The handler sits directly
 * on undici's dispatch: `onRequestStart` comes right before the first byte is written, which shows exactly whether a
 * failed request can have reached the service.
 */
class Exchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private isSettled = false;
  private statusCode = 0;
  private encoding: string | undefined;
  private date: string | undefined;
  private retryAfter: number | undefined;
  private body = NO_BODY;

  constructor(
    private readonly deadline: Deadline,
    private readonly maxAnswer: number,
    private readonly receiver: Receiver,
  ) {}

  /** The deadline has ended the call. */
  onEnd(end: CallAborted): void {
    this.fail(failureOf(end, this.controller !== undefined));
    this.controller?.abort(end);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The call may have ended while undici waited for a connection: then nothing is written.
    if (this.isSettled) controller.abort(this.deadline.ended ?? new Error('ended'));
    else this.controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (statusCode < 200) return;
    this.statusCode = statusCode;
    this.encoding = contentEncoding(headers['content-encoding']);
    this.date = headerText(headers.date);
    if (isSuccess(statusCode)) {
      this.body = new AnswerBody(this.maxAnswer, Number(headers['content-length']));
      return;
    }
    this.body = new AnswerBody(MAX_ERROR_ANSWER);
    this.retryAfter = readRetryAfter(headers, Date.now());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.body.add(chunk)) return;
    if (isSuccess(this.statusCode)) {
      this.fail({ kind: 'too-large', sent: true, detail: `${this.maxAnswer / MEBIBYTE} MiB` });
    } else this.answer();
    controller.abort(new Error('answer too large'));
  }

  onResponseEnd(): void {
    this.answer();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: unknown): void {
    // An error status says enough, even if its body was cut off.
    if (this.statusCode !== 0 && !isSuccess(this.statusCode)) this.answer();
    else
      this.fail({ kind: 'error', sent: this.controller !== undefined, detail: errorCode(error) });
  }

  private settle(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    this.deadline.listen(undefined);
    return true;
  }

  private answer(): void {
    if (!this.settle()) return;
    const { statusCode, encoding, date, retryAfter } = this;
    this.receiver.onAnswer({ statusCode, body: this.body.read(), encoding, date, retryAfter });
  }

  private fail(failure: Failure): void {
    if (this.settle()) this.receiver.onFailure(failure);
  }
}

/**
 * Sends one request and reads its whole answer.
 * @param maxAnswer the longest answer that is read, in bytes
 * @param receiver gets the answer, or the reason for the failure
 */
export function exchange(
  dispatcher: Dispatcher,
  origin: string,
  { method, path, headers, body }: HttpRequest,
  deadline: Deadline,
  maxAnswer: number,
  receiver: Receiver,
): void {
  const handler = new Exchange(deadline, maxAnswer, receiver);
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
