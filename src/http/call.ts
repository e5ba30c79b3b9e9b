import type { Dispatcher } from 'undici';
import type { Answer } from '../types';
import { backoff } from '../util/backoff';
import { readAnswer, serviceText } from './answer';
import type { CallSpec } from './call-spec';
import { CallAborted, type Deadline, type Deadlines } from './deadline';
import { DeviceCloudError, isDeviceCloudError } from '../errors';
import { exchange, ExchangeFailed, MAX_ANSWER, type HttpAnswer } from './exchange';
import { statusError, type Call } from './failures';
import type { Limiter } from './limiter';
import type { ServiceClock } from './service-clock';
import { transportError } from './transport-failures';

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
}

/** How often a read that only touches the cloud is retried. */
const RETRIES = 2;
const RETRY_BASE = 200;
const RETRY_CAP = 2000;

function toError(http: HttpContext, call: Call, deadline: Deadline, error: unknown): unknown {
  if (error instanceof ExchangeFailed) {
    return transportError(call, error.failure, http, deadline.seconds);
  }
  if (error instanceof CallAborted) {
    const { reason: kind, detail } = error;
    const failure = detail === undefined ? { kind, sent: false } : { kind, sent: false, detail };
    return transportError(call, failure, http, deadline.seconds);
  }
  return error;
}

async function attempt<T>(
  http: HttpContext,
  spec: CallSpec<T>,
  deadline: Deadline,
): Promise<Answer<T>> {
  let answer: HttpAnswer;
  try {
    const turn = http.limiter.acquire(deadline);
    if (turn) await turn;
    try {
      const { maxAnswer = MAX_ANSWER } = spec;
      answer = await exchange(http.dispatcher, http.origin, spec.build(), deadline, maxAnswer);
    } finally {
      http.limiter.release();
    }
  } catch (error) {
    throw toError(http, spec.call, deadline, error);
  }
  const { statusCode } = answer;
  if (answer.date !== undefined) http.clock.saw(answer.date);
  if (!spec.succeeds(statusCode)) {
    const { retryAfter } = answer;
    if (retryAfter !== undefined) spec.paced?.onRetryAfter?.(retryAfter);
    throw statusError(spec.call, statusCode, serviceText(answer, spec.anyText, http.redact));
  }
  return { statusCode, body: readAnswer(spec, answer, http.redact) };
}

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

const worthRepeating = (error: unknown): error is DeviceCloudError =>
  isDeviceCloudError(error, 'UNREACHABLE', 'CONNECTION_LOST', 'GATEWAY', 'SERVER_ERROR');

async function attempts<T>(
  http: HttpContext,
  spec: CallSpec<T>,
  deadline: Deadline,
): Promise<Answer<T>> {
  for (let failed = 0; ; failed++) {
    try {
      return await attempt(http, spec, deadline);
    } catch (error) {
      if (failed === RETRIES || !worthRepeating(error)) throw error;
      if (!deadline.ended)
        await pause(backoff(failed, RETRY_BASE, RETRY_CAP, http.random), deadline);
      if (deadline.ended) throw error;
    }
  }
}

/**
 * Makes one call within a deadline, which the caller clears. A read that only touches the cloud is
 * retried at most twice; any other call goes out once, since a repeated one could act twice.
 * @param deadline of the whole call: waiting for a connection and every attempt
 * @throws DeviceCloudError
 */
export function callWithin<T>(
  http: HttpContext,
  spec: CallSpec<T>,
  deadline: Deadline,
): Promise<Answer<T>> {
  const mayRepeat = spec.call.reach === 'cloud' && !spec.paced;
  return mayRepeat ? attempts(http, spec, deadline) : attempt(http, spec, deadline);
}

/**
 * Makes one call.
 * @param seconds for the whole call
 * @throws DeviceCloudError
 */
export async function callService<T>(
  http: HttpContext,
  spec: CallSpec<T>,
  seconds: number,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const deadline = http.deadlines.start(seconds, signal);
  try {
    return await callWithin(http, spec, deadline);
  } finally {
    deadline.clear();
  }
}
