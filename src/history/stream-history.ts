import { isDeviceCloudError } from '../errors';
import type { OpenApi } from '../api/open-api';
import { callService, type HttpContext } from '../http/call';
import type { CallSpec, Shape } from '../http/answer';
import type { PacedAttempt } from '../http/adaptive-limiters';
import { HistoryRead, RecordReader, type RecordSink } from './record-reader';

/**
 * Reads a device's history (section 4.2, endpoint 5) record by record, while it arrives. The answer may have any length,
 * and memory is flat.
 *
 * When the sink returns false the answer is ended, unless it is short, or its length is not announced and no more than
 * 64 KiB have come: then the sink is called with all of it. HTTP/1.1 can only do that by closing the connection, and undici opens
 * another at once; so a rest that is not known to be over 64 KiB is read and dropped instead, for a second at most.
 * Either way the call's place is free afterwards. Of a longer answer at most the rest of a chunk has been read, 64 KiB;
 * what the system had received besides is dropped with the connection.
 *
 * A failure may come after records were passed on: what the sink has kept of them is the caller's to drop or to use.
 * The call is repeated, as other reads are, only if no record was passed on, and not with a turn.
 * @param signal ends the reading
 * @param onRecord is called synchronously; what it throws ends the reading, which then rejects with it
 * @param turn is ended with the outcome; whoever gave it decides about another attempt
 * @throws DeviceCloudError `TIMEOUT` unless the first bytes come within the client's `timeout` and 64 KiB more within
 *   each further one, or after forty of them; `INVALID_RESPONSE` unless the answer is an array of which each element is
 *   JSON of at most 32 MiB, 100 levels and 100,000 values; others as of any read
 */
export type StreamHistory = (
  chipid: string,
  signal: AbortSignal,
  onRecord: RecordSink,
  turn?: PacedAttempt,
) => Promise<HistoryRead>;

const history: Shape<HistoryRead> = {
  name: 'an array',
  is: (value): value is HistoryRead => value instanceof HistoryRead,
};

/** The reason of a failure for the limiter: an HTTP status, or the error code that fits best. */
function reasonOf(error: unknown): string {
  if (!isDeviceCloudError(error)) return 'error';
  if (error.statusCode !== undefined) return String(error.statusCode);
  if (error.code === 'TIMEOUT') return 'ETIMEDOUT';
  if (error.code === 'UNREACHABLE') return 'ECONNREFUSED';
  return error.code === 'CONNECTION_LOST' ? 'ECONNRESET' : error.code;
}

/** @param seconds the client's time-out */
export function historyStreamer(
  http: HttpContext,
  api: Pick<OpenApi, 'history'>,
  seconds: number,
): StreamHistory {
  return async (chipid, signal, onRecord, turn) => {
    const { call, build, succeeds, meaning } = api.history(chipid);
    // What had come before an abort is not passed on after it.
    const reader = new RecordReader((record) => !signal.aborted && onRecord(record) !== false);
    const spec: CallSpec<HistoryRead> = {
      ...{ call, build, succeeds, accepts: history },
      ...(meaning && { meaning }),
      reader,
    };
    if (!turn) return (await callService(http, spec, seconds, signal)).body;
    let retryAfter: number | undefined;
    const paced = { onRetryAfter: (wait: number) => (retryAfter = wait) };
    try {
      const { body } = await callService(http, { ...spec, paced }, seconds, signal);
      turn.succeeded();
      return body;
    } catch (error) {
      // An aborted reading says nothing about the service.
      if (signal.aborted) turn.cancel();
      else turn.failed(reasonOf(error), retryAfter);
      throw error;
    }
  };
}
