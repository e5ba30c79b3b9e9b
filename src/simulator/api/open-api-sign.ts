import { signOpenApi, type Params } from '../../api/signing';
import { isSeconds, STATUS, timestampMs } from '../assumptions';
import { integer, requireParam } from './params';
import { badRequest, Refusal } from '../transport/refusal';
import type { Service } from '../service/service';

const SIGN = /^[0-9a-f]{32}$/;

/**
 * Checks the common parameters of interfaces B and C (section 5.2).
 * @param method the request method; the channel's is `get` (section 4.3)
 * @param query the parameters of the URL, which the common ones have to be among (section 4.2, rule 2)
 * @param params all parameters, those of a form included
 * @param unit of the timestamp: `s` for interface B (section 4.2), `any` for the channel (section 4.3)
 * @throws Refusal 400 if one is missing or invalid, 401 if the sign is wrong or the application gone
 */
export function checkOpenApiSign(
  service: Service,
  method: string,
  query: Params,
  params: Params,
  unit: 's' | 'any',
): void {
  const { appid, appkey, timestampWindow, unknownApp, now } = service.settings;
  const given = integer('appid', requireParam(query, 'appid'));
  const timestamp = integer('timestamp', requireParam(query, 'timestamp'));
  const sign = requireParam(query, 'sign');
  if (unit === 's' && !isSeconds(timestamp)) throw badRequest('timestamp must be Unix seconds');
  if (given !== appid) throw new Refusal(unknownApp, 'there is no such application');
  if (service.deleted) throw new Refusal(401, 'the application has been deleted');
  if (!SIGN.test(sign)) {
    throw new Refusal(STATUS.malformedSign, 'sign must be 32 lowercase hexadecimal characters');
  }
  if (sign !== signOpenApi(method, params, appkey)) throw new Refusal(401, 'sign is wrong');
  if (Math.abs(timestampMs(timestamp) - now()) > timestampWindow * 1000) {
    throw new Refusal(STATUS.clockOff, 'timestamp is too far from the time of the server');
  }
}
