import { parseDatatype, readInput } from './input/values';
import { matcherOf } from './commands/reply/matcher';
import type { Request } from './commands/reply/requests';
import type { RequestOptions } from './commands/reply/types';
import { readTimeout } from './settings';
import { catchRejection } from './util/thrown';

/** Seconds from sending the push of a request until its reply. */
const REPLY_TIMEOUT = 30;

/**
 * Reads the options that a request has beyond those of a push.
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export function readRequest(
  options: RequestOptions | undefined,
): Pick<Request, 'matcher' | 'replyTimeout' | 'datatype' | 'recover' | 'onProgress'> {
  return readInput('options object', () => {
    const { match, replyTimeout, datatype, recover, onProgress } =
      options ?? ({} as Partial<RequestOptions>);
    return {
      matcher: matcherOf(match),
      replyTimeout: readTimeout(replyTimeout, REPLY_TIMEOUT),
      datatype: parseDatatype(datatype),
      recover: { encoding: recover?.encoding, zone: recover?.zone },
      onProgress(progress) {
        try {
          catchRejection(onProgress?.(progress), () => undefined);
        } catch {
          // Progress is only for display: the request continues.
        }
      },
    };
  });
}
