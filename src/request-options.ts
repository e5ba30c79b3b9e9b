import { invalidInput } from './errors';
import { readInput } from './input/readable';
import type { BoundedPatterns } from './request/bounded-pattern';
import { matcherOf } from './request/matcher';
import type { Request } from './request/requests';
import type { RequestOptions } from './request/types';
import { readTimeout } from './settings';
import { DATATYPES, type Datatype } from './types';
import { show } from './util/show';
import { catchRejection } from './util/thrown';

/** Seconds from sending the push of a request until its reply. */
const REPLY_TIMEOUT = 30;

function readDatatype(value: unknown): Datatype {
  const datatype = DATATYPES.find((known) => known === value);
  if (datatype) return datatype;
  throw invalidInput(`The datatype must be ${DATATYPES.join(', ')}, but is ${show(value)}.`);
}

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
      datatype = 'auto-detect',
      recover,
      onProgress,
    } = options ?? ({} as Partial<RequestOptions>);
    return {
      matcher: matcherOf(match, patterns),
      replyTimeout: readTimeout(replyTimeout, REPLY_TIMEOUT),
      datatype: readDatatype(datatype),
      recover: { encoding: recover?.encoding, zone: recover?.zone },
      onProgress(progress) {
        try {
          catchRejection(onProgress?.(progress), () => undefined);
        } catch {
          // Progress is for show: the request goes on.
        }
      },
    };
  });
}
