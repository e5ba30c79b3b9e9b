import { signServerApi } from '../../api/signing';
import { STATUS } from '../assumptions';
import type { Incoming } from '../transport/incoming';
import { integer } from '../transport/params';
import { badRequest, Refusal } from '../transport/refusal';
import type { Service } from '../service/service';

/** Section 5.1, in seconds. */
const MAX_CLOCK_OFF = 7200;

function header({ headers }: Incoming, name: string): string {
  const value = headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw badRequest(`header ${name} is missing`);
}

/**
 * Checks the headers of interface A (section 5.1). The sign is over the path as it was sent.
 * @throws Refusal 400 if a header is missing, 401 if the sign is wrong or the application gone
 */
export function checkServerSign({ settings, deleted }: Service, request: Incoming): void {
  const key = header(request, 'key');
  const timestamp = integer('header timestamp', header(request, 'timestamp'));
  const sign = header(request, 'sign');
  const { method, path } = request;
  const expected = signServerApi({ method, path, key, timestamp }, settings.serverPassword);
  if (deleted) throw new Refusal(401, 'the application has been deleted');
  if (key !== settings.serverKey || sign !== expected) throw new Refusal(401, 'sign is wrong');
  if (Math.abs(Number(timestamp) - settings.now() / 1000) > MAX_CLOCK_OFF) {
    throw new Refusal(STATUS.clockOff, 'Timestamp is too far from the time of the server');
  }
}
