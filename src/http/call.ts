import type { Answer } from '../types';
import { backoff } from '../util/backoff';
import type { Deadline, Extension } from './deadline';
import { isWorthRetry, waitOf } from '../errors';
import { attempt, type HttpContext } from './exchange';
import type { BodyReader, CallSpec } from '../protocol/call-spec';

/** How often a read that only touches the cloud is retried. */
const RETRIES = 2;
const RETRY_BASE = 200;
const RETRY_CAP = 2000;

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
function extensionFor(reader: BodyReader, timeout: number): Extension {
  let timeouts = 0;
  let seen = 0;
  return () => {
    const came = reader.bytes - seen;
    if (seen > 0 && came < PROGRESS) {
      return `less than ${PROGRESS / 1024} KiB of the answer came in ${timeout / 1000} s`;
    }
    if (++timeouts === MOST_TIMEOUTS) {
      return `the answer did not end within ${(MOST_TIMEOUTS * timeout) / 1000} s`;
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
      return await attempt(http, spec, deadline);
    } catch (error) {
      if (failed === RETRIES || !isWorthRetry(error)) throw error;
      // A service that asks for a longer pause is left alone: whoever waits for the answer learns it now.
      const wait = waitOf(error);
      if (wait > RETRY_CAP) throw error;
      if (!deadline.ended)
        await pause(Math.max(wait, backoff(failed, RETRY_BASE, RETRY_CAP, http.random)), deadline);
      if (deadline.ended) throw error;
    }
  }
}

/**
 * Makes one call within a deadline. A read that only touches the cloud is retried at most twice.
 * @param deadline of the whole call: waiting for a connection and every attempt
 * @throws DeviceCloudError
 */
export const callWithin = <T>(
  http: HttpContext,
  spec: CallSpec<T>,
  deadline: Deadline,
): Promise<Answer<T>> =>
  mayRepeat(spec) ? attempts(http, spec, deadline) : attempt(http, spec, deadline);

/**
 * Makes one call, as {@link callWithin} does.
 * @param timeout milliseconds for the whole call; of one whose answer is read while it arrives, until its first bytes, and again
 *   for each further 64 KiB, forty times at most
 * @throws DeviceCloudError
 */
export function callService<T>(
  http: HttpContext,
  spec: CallSpec<T>,
  timeout: number,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const { reader } = spec;
  const extension = reader && extensionFor(reader, timeout);
  return http.deadlines.run(
    (deadline) => callWithin(http, spec, deadline),
    timeout,
    signal,
    extension,
  );
}
