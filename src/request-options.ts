import { parseDatatype, readInput } from './input/values';
import { isolatedProgress } from './commands/outcome';
import { matcherOf } from './commands/reply/matcher';
import type { Request } from './commands/reply/requests';
import type { RequestOptions, RequestProgress } from './commands/reply/types';
import { readTimeout } from './settings';

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
      onProgress: isolatedProgress((progress: RequestProgress) => onProgress?.(progress)),
    };
  });
}
