import { invalidInput } from './errors';
import { parseFormat } from './input/push-payload';
import { readInput } from './input/readable';
import { parseSignal } from './input/signal';
import type { RecoverOptions } from './recovery/options';
import type { BoundedPatterns } from './request/bounded-pattern';
import { matcherOf } from './request/matcher';
import type { Request } from './request/requests';
import type { RequestOptions } from './request/types';
import { readTimeout } from './settings';
import { DATATYPES, type CallOptions, type PushFormat, type PushOptions } from './types';
import { show } from './util/show';
import { catchRejection } from './util/thrown';

/** What ends a call before its answer. */
export interface Limits {
  seconds: number;
  signal: AbortSignal | undefined;
}

/**
 * Reads `timeout` and `signal`.
 * @param usual the time-out in seconds if the options have none
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export function readLimits(
  options: Pick<CallOptions, 'timeout' | 'signal'> | undefined,
  usual: number,
): Limits {
  return readInput('options object', () => ({
    seconds: readTimeout(options?.timeout, usual),
    signal: parseSignal(options?.signal),
  }));
}

/** Reads `format`. @throws DeviceCloudError `INVALID_INPUT` */
export const readFormat = (options: Pick<PushOptions, 'format'> | undefined): PushFormat =>
  readInput('options object', () => parseFormat(options?.format ?? 'MSG'));

/**
 * Reads each option once: recovery uses them for as long as it runs.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readRecovery(options: RecoverOptions | undefined): RecoverOptions | undefined {
  if (!options) return undefined;
  return readInput('options object for recovery', () => {
    const { encoding, zone, start, save } = options;
    const read = { encoding, zone, start };
    return save ? { ...read, save: (position) => save.call(options, position) } : read;
  });
}

/** Seconds from sending the push of a request until its reply. */
const REPLY_TIMEOUT = 30;

/**
 * Reads the options that a request has beyond those of a push.
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export function readRequest(
  options: RequestOptions | undefined,
  patterns: BoundedPatterns,
): Pick<Request, 'matcher' | 'replyTimeout' | 'datatype' | 'recover' | 'onProgress'> {
  return readInput('options object', () => {
    const {
      match,
      replyTimeout,
      datatype: given = 'auto-detect',
      recover,
      onProgress,
    } = options ?? ({} as Partial<RequestOptions>);
    const datatype = DATATYPES.find((known) => known === given);
    if (!datatype) {
      throw invalidInput(`The datatype must be ${DATATYPES.join(', ')}, but is ${show(given)}.`);
    }
    return {
      matcher: matcherOf(match, patterns),
      replyTimeout: readTimeout(replyTimeout, REPLY_TIMEOUT),
      datatype,
      recover: { encoding: recover?.encoding, zone: recover?.zone },
      onProgress(progress) {
        try {
          catchRejection(onProgress?.call(options, progress), () => undefined);
        } catch {
          // The request goes on.
        }
      },
    };
  });
}
