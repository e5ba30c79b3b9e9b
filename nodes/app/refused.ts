import {
  DeviceCloudClient,
  isDeviceCloudError,
  type ClientOptions,
  type KeyWarning,
  type SignedText,
} from '../../src/for-nodes';
import type { Api } from '../common/app';
import type { ApiResult, Cause, Problem } from './answers.config';

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
  options: ClientOptions;
  signing: SignedText;
  /** What looks wrong about its keys. */
  warnings: KeyWarning[];
  /** Seconds that the service's clock is ahead. */
  clockSkew: number | undefined;
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

/** What an error of Node.js says about a certificate. */
const CERTIFICATES: readonly (readonly [code: RegExp, problem: Problem])[] = [
  [/\((?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)\)/, 'self-signed'],
  [/\(ERR_TLS_CERT_ALTNAME_INVALID\)/, 'another-host'],
];

/** Whether something with TLS answers at an address that is given without. It gets no key and no sign of a key. */
async function speaksTls(options: ClientOptions): Promise<boolean> {
  const baseUrl = options.baseUrl.replace(/^http:/, 'https:');
  if (baseUrl === options.baseUrl) return false;
  const probe = { baseUrl, appid: 1, appkey: 'none', tls: { rejectUnauthorized: false } };
  const { proxy } = options;
  await using client = new DeviceCloudClient({
    ...probe,
    ...(proxy === undefined ? {} : { proxy }),
  });
  return await client.app({ timeout: 3000 }).then(
    () => true,
    (error: unknown) => !isDeviceCloudError(error, 'UNREACHABLE', 'TIMEOUT', 'CONNECTION_LOST'),
  );
}

/** What is wrong with the address, rather than with the keys. */
async function problemOf(
  error: unknown,
  api: Api,
  options: ClientOptions,
): Promise<Problem | undefined> {
  const text = error instanceof Error ? error.message : '';
  if (isDeviceCloudError(error, 'UNREACHABLE'))
    return CERTIFICATES.find(([code]) => code.test(text))?.[1];
  // Each answer of the open API has a `msg` (section 7); those of the server API are not shown, but are no page.
  const isCloud = api === 'open' ? / failed: "/.test(text) : !/ failed: "</.test(text);
  const isOdd = isDeviceCloudError(error, 'NOT_FOUND', 'BAD_REQUEST', 'UNEXPECTED_STATUS');
  const isForeign = isDeviceCloudError(error, 'INVALID_RESPONSE') || (isOdd && !isCloud);
  if (!isForeign && !isDeviceCloudError(error, 'CONNECTION_LOST')) return undefined;
  if (await speaksTls(options)) return 'needs-https';
  return isForeign ? 'not-a-cloud' : undefined;
}

/**
 * Helps with an error: with the address; or with one that a wrong key, application id or clock may have caused: 401, or 404
 * (section 7), or 400 of the public server of 2016, whose text says which.
 */
export async function helpWith(
  error: unknown,
  { api, options, signing, warnings, clockSkew, accepts }: Refused,
): Promise<Pick<ApiResult, 'causes' | 'warnings' | 'signing' | 'dialect' | 'problem'>> {
  const text = error instanceof Error ? error.message : '';
  const said = SAID.find(([pattern]) => pattern.test(text))?.[1];
  if (said === undefined) {
    const problem = await problemOf(error, api, options);
    if (problem) return { problem };
    if (!isDeviceCloudError(error, 'UNAUTHORIZED', 'NOT_FOUND')) return {};
  }
  const causes: Cause[] = [];
  const isAboutKey = said === undefined || said === 'key';
  if (isAboutKey && warnings.length > 0) causes.push('blank');
  const { appkey } = options;
  // The public server of 2016 signs with the key in lower case, the document with the key as it is.
  const mayBeCase = isAboutKey && hasCapitals(appkey);
  if (mayBeCase && (await accepts?.(appkey.toLowerCase()))) causes.unshift('capitals');
  else causes.push(...(said === undefined ? causesOf(error, api, clockSkew) : [said]));
  return {
    causes,
    warnings,
    signing,
    ...(api === 'open' && { dialect: said === undefined ? 'document' : 'public' }),
  };
}
