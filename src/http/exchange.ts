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

/** Carries a {@link Failure} through a rejected promise. */
export class ExchangeFailed extends Error {
  override readonly name = 'ExchangeFailed';
  constructor(readonly failure: Failure) {
    super(failure.kind);
  }
}

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;

const contentEncoding = (value: string | string[] | undefined): string | undefined => {
  const encoding = headerText(value);
  return encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding) ? undefined : encoding;
};

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
 * Sends one request and reads its whole answer.
 * The handler sits directly on undici's dispatch: `onRequestStart` comes right before the first byte
 * is written, which shows exactly whether a failed request can have reached the service.
 * @param maxAnswer the longest answer that is read, in bytes
 * @throws ExchangeFailed
 */
export function exchange(
  dispatcher: Dispatcher,
  origin: string,
  request: HttpRequest,
  deadline: Deadline,
  maxAnswer: number,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    let statusCode = 0;
    let encoding: string | undefined;
    let date: string | undefined;
    let retryAfter: number | undefined;
    let body = new AnswerBody(maxAnswer);

    const settle = (): boolean => {
      if (settled) return false;
      settled = true;
      deadline.listen(undefined);
      return true;
    };
    const answer = (): void => {
      if (settle()) resolve({ statusCode, body: body.read(), encoding, date, retryAfter });
    };
    const fail = (kind: Failure['kind'], detail?: string): void => {
      // An error status says enough, even if its body was cut off.
      if (kind === 'error' && statusCode !== 0 && !isSuccess(statusCode)) answer();
      else if (settle()) {
        const sent = controller !== undefined;
        reject(new ExchangeFailed(detail === undefined ? { kind, sent } : { kind, sent, detail }));
      }
    };
    const onEnd = (end: CallAborted): void => {
      fail(end.reason, end.detail);
      controller?.abort(end);
    };

    if (deadline.ended) {
      fail(deadline.ended.reason, deadline.ended.detail);
      return;
    }
    deadline.listen(onEnd);
    dispatcher.dispatch(
      { origin, ...request, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart(started) {
          // The call may have ended while undici waited for a connection: then nothing is written.
          if (settled) started.abort(deadline.ended ?? new Error('ended'));
          else controller = started;
        },
        onResponseStart(_controller, status, headers) {
          if (status < 200) return;
          statusCode = status;
          encoding = contentEncoding(headers['content-encoding']);
          date = headerText(headers.date);
          if (isSuccess(status)) return;
          body = new AnswerBody(MAX_ERROR_ANSWER);
          retryAfter = readRetryAfter(headers, Date.now());
        },
        onResponseData(current, chunk) {
          if (body.add(chunk)) return;
          if (isSuccess(statusCode)) fail('too-large', `${maxAnswer / MEBIBYTE} MiB`);
          else answer();
          current.abort(new Error('answer too large'));
        },
        onResponseEnd: answer,
        onResponseError(_controller, error) {
          fail('error', errorCode(error));
        },
      },
    );
  });
}
