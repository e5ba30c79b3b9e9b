import type { Dispatcher } from 'undici';
import type { Answer } from './answers';
import { backoff } from './backoff';
import { CallEnd, type Deadline, type Deadlines } from './deadline';
import { DeviceCloudError, isDeviceCloudError } from './errors';
import { exchange, ExchangeFailed, type HttpAnswer, type HttpRequest } from './exchange';
import { answerError, statusError, transportError, type Call } from './failures';
import { parseJson } from './json';
import type { Permits } from './permits';
import type { ServiceClock } from './service-clock';

/** One call: how to sign its request, and what its answer has to be. */
export interface CallSpec<T> {
  call: Call;
  /** Makes the request, freshly signed each time. */
  build: () => HttpRequest;
  /** Which statuses are a success. */
  succeeds: (statusCode: number) => boolean;
  /** Whether the answer's JSON is of the shape that is due, in words for the error. */
  accepts: Shape<T>;
  /** Whether a success may come without a body (section 4.1: any 2XX; only 200 carries JSON). */
  mayBeEmpty?: boolean;
}

/** A shape that an answer has to have. */
export interface Shape<T> {
  is: (value: unknown) => value is T;
  /** What it is, for the error: `an array of objects`. */
  name: string;
}

/** The connections of one application, as the calls use them. */
export interface HttpLine {
  dispatcher: Dispatcher;
  origin: string;
  permits: Permits;
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
function serviceText(line: HttpLine, answer: HttpAnswer): string | undefined {
  if (answer.encoding !== undefined) return undefined;
  try {
    const body = JSON.parse(answer.body.toString('utf8')) as unknown;
    if (typeof body !== 'object' || body === null) return undefined;
    const { msg } = body as { msg?: unknown };
    return typeof msg === 'string' ? line.redact(msg) : undefined;
  } catch {
    return undefined;
  }
}

function readAnswer<T>(spec: CallSpec<T>, answer: HttpAnswer): T {
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
    if (!spec.mayBeEmpty || statusCode === 200) {
      throw answerError(spec.call, 'the answer is empty', statusCode);
    }
    value = null;
  } else {
    try {
      value = parseJson(body.toString('utf8'));
    } catch {
      throw answerError(spec.call, 'the answer is not JSON', statusCode);
    }
  }
  if (spec.accepts.is(value)) return value;
  throw answerError(spec.call, `the answer is not ${spec.accepts.name}`, statusCode);
}

function toError(line: HttpLine, call: Call, deadline: Deadline, error: unknown): unknown {
  if (error instanceof ExchangeFailed) {
    return transportError(call, error.failure, line.origin, deadline.seconds);
  }
  if (error instanceof CallEnd) {
    const failure = { kind: error.reason, sent: false };
    return transportError(call, failure, line.origin, deadline.seconds);
  }
  return error;
}

async function attempt<T>(
  line: HttpLine,
  spec: CallSpec<T>,
  deadline: Deadline,
): Promise<Answer<T>> {
  let answer: HttpAnswer;
  try {
    const turn = line.permits.take(deadline);
    if (turn) await turn;
    try {
      answer = await exchange(line.dispatcher, line.origin, spec.build(), deadline);
    } finally {
      line.permits.give();
    }
  } catch (error) {
    throw toError(line, spec.call, deadline, error);
  }
  const { statusCode } = answer;
  if (answer.date !== undefined) line.clock.saw(answer.date);
  if (!spec.succeeds(statusCode)) {
    throw statusError(spec.call, statusCode, serviceText(line, answer));
  }
  return { statusCode, body: readAnswer(spec, answer) };
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
 * Carries out one call. A read that only touches the cloud is tried again at most twice; a call that
 * reaches a device goes out once, since a repeated one could act twice.
 * @param seconds for the whole call: waiting for a connection and every attempt
 * @throws DeviceCloudError
 */
export async function callService<T>(
  line: HttpLine,
  spec: CallSpec<T>,
  seconds: number,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const deadline = line.deadlines.start(seconds, signal);
  try {
    for (let failed = 0; ; failed++) {
      try {
        return await attempt(line, spec, deadline);
      } catch (error) {
        if (spec.call.reach === 'device' || failed === RETRIES || !worthRepeating(error))
          throw error;
        if (!deadline.ended)
          await pause(backoff(failed, RETRY_BASE, RETRY_CAP, line.random), deadline);
        if (deadline.ended) throw error;
      }
    }
  } finally {
    deadline.clear();
  }
}
