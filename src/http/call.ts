import type { Dispatcher } from 'undici';
import type { Answer } from '../types';
import { backoff } from '../util/backoff';
import { CallAborted, type Deadline, type Deadlines } from './deadline';
import { DeviceCloudError, isDeviceCloudError } from '../errors';
import {
  exchange,
  ExchangeFailed,
  MAX_ANSWER,
  type HttpAnswer,
  type HttpRequest,
} from './exchange';
import { answerError, notAcceptedError, statusError, type Call, type Refusal } from './failures';
import { parseJson } from '../util/json';
import { JsonLimitError } from '../util/json-scan';
import type { Limiter } from './limiter';
import type { ServiceClock } from './service-clock';
import { transportError } from './transport-failures';

/** One call: how to sign its request, and what its answer has to be. */
export interface CallSpec<T> {
  call: Call;
  /** Makes the request, freshly signed each time. */
  build: () => HttpRequest;
  /** Which statuses are a success. */
  succeeds: (statusCode: number) => boolean;
  /** Whether the answer's JSON is of the shape that is due, in words for the error. */
  accepts: Shape<T>;
  /**
   * Whether the interface leaves open what its answers look like, as interface A (section 4.1: any 2XX
   * is a success): one without a body is null, one that is not JSON its text, and an error in any form
   * is repeated.
   */
  anyText?: boolean;
  /** What makes an answer of the right shape no success, if anything does. */
  refusal?: (answer: T) => Refusal | undefined;
  /** The longest answer that is read, in bytes; {@link MAX_ANSWER} if left out. */
  maxAnswer?: number;
}

/** A shape that an answer has to have. */
export interface Shape<T> {
  is: (value: unknown) => value is T;
  /** What it is, for the error: `an array of objects`. */
  name: string;
}

/** The connections of one application, as the calls use them. */
export interface HttpContext {
  dispatcher: Dispatcher;
  origin: string;
  /** Scheme, host and port of the proxy that leads there, if one does. */
  proxy: string | undefined;
  limiter: Limiter;
  deadlines: Deadlines;
  /** Takes secrets out of what the service says. */
  redact: (text: string) => string;
  random: () => number;
  clock: ServiceClock;
}

/** How often a read that only touches the cloud is tried again. */
const RETRIES = 2;
const RETRY_BASE = 200;
const RETRY_CAP = 2000;

/** The `msg` of an answer, which section 7 puts into errors. */
function msgOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { msg } = value as { msg?: unknown };
  return typeof msg === 'string' ? msg : undefined;
}

/** What an error says: its `msg`; of an interface that does not show its errors, all that is there. */
function serviceText(
  http: HttpContext,
  anyText: boolean | undefined,
  answer: HttpAnswer,
): string | undefined {
  if (answer.encoding !== undefined) return undefined;
  const text = answer.body.toString('utf8');
  let said: string | undefined;
  try {
    said = msgOf(JSON.parse(text));
  } catch {
    // Repeated as it is, if at all.
  }
  if (said === undefined && anyText) said = text.replace(/\s+/g, ' ').trim();
  return said === undefined ? undefined : http.redact(said);
}

function readAnswer<T>(http: HttpContext, spec: CallSpec<T>, answer: HttpAnswer): T {
  const { statusCode, body, encoding } = answer;
  if (encoding !== undefined) {
    throw answerError(
      spec.call,
      'the answer is compressed, though nobody asked for it',
      statusCode,
    );
  }
  let value: unknown;
  if (body.length === 0) {
    if (!spec.anyText) throw answerError(spec.call, 'the answer is empty', statusCode);
    value = null;
  } else {
    try {
      value = parseJson(body);
    } catch (error) {
      if (error instanceof JsonLimitError) {
        const { what, advice } = error;
        throw answerError(spec.call, `the answer is ${what}`, statusCode, { advice });
      }
      if (!spec.anyText) throw answerError(spec.call, 'the answer is not JSON', statusCode);
      value = body.toString('utf8');
    }
  }
  if (!spec.accepts.is(value)) {
    const msg = msgOf(value);
    const more = msg === undefined ? {} : { said: http.redact(msg) };
    throw answerError(spec.call, `the answer is not ${spec.accepts.name}`, statusCode, more);
  }
  const refusal = spec.refusal?.(value);
  if (refusal !== undefined) {
    const { what, said } = refusal;
    const shown = said === undefined ? { what } : { what, said: http.redact(said) };
    throw notAcceptedError(spec.call, shown, statusCode);
  }
  return value;
}

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
    throw statusError(spec.call, statusCode, serviceText(http, spec.anyText, answer));
  }
  return { statusCode, body: readAnswer(http, spec, answer) };
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

/**
 * Carries out one call within a deadline, which the caller clears. A read that only touches the cloud
 * is tried again at most twice; any other call goes out once, since a repeated one could act twice.
 * @param deadline of the whole call: waiting for a connection and every attempt
 * @throws DeviceCloudError
 */
export async function callWithin<T>(
  http: HttpContext,
  spec: CallSpec<T>,
  deadline: Deadline,
): Promise<Answer<T>> {
  for (let failed = 0; ; failed++) {
    try {
      return await attempt(http, spec, deadline);
    } catch (error) {
      if (spec.call.reach !== 'cloud' || failed === RETRIES || !worthRepeating(error)) throw error;
      if (!deadline.ended)
        await pause(backoff(failed, RETRY_BASE, RETRY_CAP, http.random), deadline);
      if (deadline.ended) throw error;
    }
  }
}

/**
 * Carries out one call.
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
