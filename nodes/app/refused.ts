import { isDeviceCloudError, type KeyWarning, type SignedText } from '../../src/for-nodes';
import type { Api } from '../common/app';
import type { ApiResult, Cause } from './answers.config';

/**
 * What the public server of 2016 says is wrong. Its document and ours say 401 or 404, which name no cause; the server
 * says 400 with one of these.
 */
const SAID: readonly (readonly [said: RegExp, cause: Cause])[] = [
  [/签名(?:不正确|错误)/, 'key'],
  [/设备类别/, 'appid'],
  [/时间间隔/, 'clock'],
];

/** A difference from which on a service refuses, in seconds: section 5.1, and the public server of 2016. */
const CLOCK_LIMIT: Readonly<Record<Api, number>> = { open: 3600, server: 7200 };
/** A smaller difference may be the round trip. */
const CLOCK_NOISE = 5;

const hasCapitals = (key: unknown): key is string => typeof key === 'string' && /[A-Z]/.test(key);

interface Refused {
  api: Api;
  signing: SignedText;
  /** What looks wrong about its keys. */
  warnings: KeyWarning[];
  /** Seconds that the service's clock is ahead. */
  clockSkew: number | undefined;
  appkey?: string | undefined;
  /** Whether the service accepts another app key. */
  accepts?: (appkey: string) => Promise<boolean>;
}

/** The causes that are left once the key looks right, the likeliest first. */
function causesOf(error: unknown, api: Api, clockSkew = 0): Cause[] {
  const off = Math.abs(clockSkew);
  const clock: Cause[] = off >= CLOCK_NOISE ? ['clock'] : [];
  // Section 7: an unknown application is 404.
  const isUnknown = isDeviceCloudError(error, 'NOT_FOUND');
  // It may as well be another address, which the error says.
  if (api === 'server' && isUnknown) return [];
  if (api === 'server') return off > CLOCK_LIMIT.server ? ['clock', 'key'] : ['key', ...clock];
  const keys: Cause[] = isUnknown ? ['appid', 'key'] : ['key', 'appid'];
  return off > CLOCK_LIMIT.open && !isUnknown ? ['clock', ...keys] : [...keys, ...clock];
}

/**
 * Helps with an error that a wrong key, application id or clock may have caused: 401, or 404 (section 7), or 400 of the
 * public server of 2016, whose text says which.
 */
export async function helpWith(
  error: unknown,
  { api, signing, warnings, clockSkew, appkey, accepts }: Refused,
): Promise<Pick<ApiResult, 'causes' | 'warnings' | 'signing' | 'dialect'>> {
  const text = error instanceof Error ? error.message : '';
  const said = SAID.find(([pattern]) => pattern.test(text))?.[1];
  if (said === undefined && !isDeviceCloudError(error, 'UNAUTHORIZED', 'NOT_FOUND')) return {};
  const causes: Cause[] = [];
  if (warnings.length > 0) causes.push('blank');
  // The public server of 2016 signs with the key in lower case, the document with the key as it is.
  const mayBeCase = hasCapitals(appkey) && (said === undefined || said === 'key');
  if (mayBeCase && (await accepts?.(appkey.toLowerCase()))) causes.unshift('capitals');
  else causes.push(...(said === undefined ? causesOf(error, api, clockSkew) : [said]));
  return {
    causes,
    warnings,
    signing,
    ...(api === 'open' && { dialect: said === undefined ? 'document' : 'public' }),
  };
}
