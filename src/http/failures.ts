import { DeviceCloudError, ERRORS, type ErrorCode } from '../errors';
import type { Call, Refusal, StatusMeaning } from '../protocol/call-spec';
import { capitalized, oneLine } from '../util/show';

/** Why there was no answer. If `sent` is false, no byte of the request was written. */
export interface Failure {
  kind: 'timeout' | 'aborted' | 'error' | 'too-large';
  sent: boolean;
  /** The error code of Node.js or undici, for example `ECONNREFUSED`; the reason of an abort; the limit of `too-large`. */
  detail?: string;
}

const MAX_SERVICE_TEXT = 300;

const UNAUTHORIZED: Readonly<Record<Call['api'], string>> = {
  open: 'Check the app key and the application id of the configuration, and the clock of this machine; the application may have been deleted.',
  server:
    'Check the key and the password of the server API in the configuration, and the clock of this machine; the application may have been deleted.',
};

/** Section 7: the device or "the application information" does not exist. */
function notFoundAdvice({ api, ofDevice }: Call): string {
  if (api === 'server') {
    return ofDevice
      ? 'Check the device id, which may not be the chip number, and the address of the configuration.'
      : 'Check the address of the configuration, and whether the service has the server API.';
  }
  return ofDevice
    ? 'Check the number of the device, and the application id of the configuration: one of them is unknown to the service.'
    : 'Check the application id and the address of the configuration; the application may have been deleted.';
}

/** Section 7: a failure of "the gateway that holds the device connection", whose reason `msg` states. */
const gatewayAdvice = (call: Call): string =>
  call.reach === 'device' ? `It may be offline.${remedyOf(call)}` : ERRORS.GATEWAY.advice;

const remedyOf = ({ canWait }: Call): string => (canWait ? ` ${ERRORS.TIMEOUT.remedy}` : '');

function ofStatus(call: Call, statusCode: number): StatusMeaning {
  if (statusCode >= 300 && statusCode < 400) {
    return ['REDIRECT', ERRORS.REDIRECT.advice];
  }
  if (statusCode === 400) return ['BAD_REQUEST', ERRORS.BAD_REQUEST.advice];
  if (statusCode === 401) return ['UNAUTHORIZED', UNAUTHORIZED[call.api]];
  if (statusCode === 403) {
    return ['UNAUTHORIZED', ERRORS.UNAUTHORIZED.advice];
  }
  if (statusCode === 404) return ['NOT_FOUND', notFoundAdvice(call)];
  if (statusCode === 502 || statusCode === 504) return ['GATEWAY', gatewayAdvice(call)];
  if (statusCode === 429)
    return ['UNEXPECTED_STATUS', 'It has too many requests: ask less often, and later.'];
  return statusCode >= 500
    ? ['SERVER_ERROR', ERRORS.SERVER_ERROR.advice]
    : ['UNEXPECTED_STATUS', ERRORS.UNEXPECTED_STATUS.advice];
}

/** The uncertainty after a call whose answer is missing or a failure. */
const UNKNOWN_OUTCOME: Readonly<Record<Call['reach'], string>> = {
  device: ' Whether the device acted is unknown, so the call was not repeated.',
  command: ' Whether it was carried out is unknown, so the call was not repeated.',
  cloud: '',
};

const MAY_HAVE_ACTED: Readonly<Record<Call['reach'], string>> = {
  device: ' The device may have acted.',
  command: ' It may have been carried out.',
  cloud: '',
};

const quote = (text: string): string => `"${oneLine(text, MAX_SERVICE_TEXT)}"`;

/** @param said what the service said, without secrets */
const failed = ({ name }: Call, said?: string): string =>
  said === undefined || said === '' ? `${name} failed.` : `${name} failed: ${quote(said)}.`;

/**
 * The error for an answer whose status is not a success (section 7).
 * @param said what the service said, without secrets
 * @param meaning what the status means to this call; default: what it usually means
 */
export function statusError(
  call: Call,
  statusCode: number,
  said: string | undefined,
  meaning: StatusMeaning = ofStatus(call, statusCode),
): DeviceCloudError {
  const [code, advice] = meaning;
  const outcome = statusCode >= 500 ? UNKNOWN_OUTCOME[call.reach] : '';
  const what =
    code === 'GATEWAY' && call.reach === 'device'
      ? `the cloud could not reach the device (${statusCode})`
      : `The service answered ${statusCode}`;
  return new DeviceCloudError(
    code,
    `${what}. ${failed(call, said)} ${advice}${outcome}`,
    statusCode,
  );
}

/**
 * The error for an answer that is not what the interface describes.
 * @param more `said`, the answer's `msg` without secrets; `advice`, what to do about it
 */
export function answerError(
  call: Call,
  what: string,
  statusCode: number,
  { said, advice = ERRORS.INVALID_RESPONSE.advice }: { said?: string; advice?: string } = {},
): DeviceCloudError {
  return new DeviceCloudError(
    'INVALID_RESPONSE',
    `${capitalized(what)}. ${failed(call, said)}${MAY_HAVE_ACTED[call.reach]} ${advice}`,
    statusCode,
  );
}

/** The error for a push that was answered, but not with the words of success (section 4.2). */
export function notAcceptedError(
  call: Call,
  { what, said }: Refusal,
  statusCode: number,
): DeviceCloudError {
  const words = said === undefined ? what : `${what} ${quote(said)}`;
  return new DeviceCloudError(
    'NOT_ACCEPTED',
    `The service answered ${statusCode}, but not with OK or success. ${call.name} was answered with ${words}.` +
      UNKNOWN_OUTCOME[call.reach],
    statusCode,
  );
}

/** undici's parser errors: some carry a code of llhttp, most only their name. */
const NOT_HTTP = /^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$)/;

/**
 * Milliseconds of silence after which a device is probably offline. Section 4.2 says so of about 10, and the public
 * server of 2016 waits 8 for the answer to a refresh.
 */
const SILENCE = 8000;

function timeoutText(call: Call, timeout: number, { sent, detail }: Failure): string {
  const seconds = timeout / 1000;
  if (!sent)
    return `Not sent within ${seconds} s. ${failed(call)} No connection to the service was available.`;
  const advice = {
    device:
      timeout >= SILENCE
        ? 'The device is probably offline; whether it acted is unknown.'
        : 'Whether the device acted is unknown. A longer time-out may show whether it is offline.',
    command: 'Whether it was carried out is unknown.',
    cloud: ERRORS.TIMEOUT.advice,
  };
  const what = detail ?? `no answer in ${seconds} s`;
  return `${what}. ${failed(call)} ${advice[call.reach]}${remedyOf(call)}`;
}

/**
 * The TLS alerts of a server that rejects the client's certificate, or requires one. Over TLS 1.3 they may come after the
 * request, which the server has not read then.
 */
export const REFUSES_CERTIFICATE =
  /^ERR_SSL_\w+_ALERT_(CERTIFICATE_\w+|\w+_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)$/;

/** Why there is no TLS, and what to do, by the code of Node.js. The first that applies. */
const TLS_FAULTS: readonly (readonly [RegExp, string])[] = [
  [
    REFUSES_CERTIFICATE,
    'The service refuses the certificate of this client, or requires one: check the certificate and the key of the TLS settings.',
  ],
  [
    /^CERT_HAS_EXPIRED$/,
    'The certificate of the service has expired, or the clock of this machine is wrong.',
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    'The certificate of the service is not valid yet: check the clock of this machine.',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'The certificate of the service is of another host: check the address, and the server name of the TLS settings.',
  ],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/,
    'The certificate of the service is of no authority that this machine trusts: add the one of the authority to the TLS settings.',
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/,
    'What answers at the address speaks no TLS: check the port, and whether the address begins with http://.',
  ],
];

/** Why a request could not be sent: a few words, and the explanation. No address: it may come from a variable. */
function unreachable(hasProxy: boolean, detail: string): [what: string, why: string] {
  const [, status] = /^PROXY_(\d+)$/.exec(detail) ?? [];
  if (status !== undefined) {
    const why = status === '407' ? 'it asks for a user name and password' : 'it refused';
    return [
      `Not sent: the proxy answered ${status}`,
      `The proxy made no connection to the service: ${why}. ` +
        'Check the proxy settings, its user name and password, and what it allows.',
    ];
  }
  const [, fault] = TLS_FAULTS.find(([code]) => code.test(detail)) ?? [];
  if (fault !== undefined) {
    const whose = hasProxy ? 'of the service or of the proxy' : 'of the service';
    return [`Not sent (${detail})`, fault.replace('of the service', whose)];
  }
  const through = hasProxy ? ' through the proxy' : '';
  return [
    `Not sent (${detail})`,
    `The service could not be reached${through}. ${ERRORS.UNREACHABLE.advice}`,
  ];
}

/**
 * The error for a request that got no answer, or half of one.
 * @param hasProxy whether the request goes through a proxy
 * @param timeout milliseconds that the call could take
 */
export function transportError(
  call: Call,
  failure: Failure,
  hasProxy: boolean,
  timeout: number,
): DeviceCloudError {
  const { kind, sent, detail = kind } = failure;
  const error = (code: ErrorCode, what: string, more = ''): DeviceCloudError =>
    new DeviceCloudError(code, `${what}. ${failed(call)}${more}`);
  const outcome = UNKNOWN_OUTCOME[call.reach];
  if (kind === 'timeout')
    return new DeviceCloudError('TIMEOUT', timeoutText(call, timeout, failure), undefined, sent);
  if (kind === 'too-large') {
    const advice = ' Ask for less at a time, such as the uploads of a few days.';
    return error('INVALID_RESPONSE', `The answer is over ${detail}`, outcome + advice);
  }
  if (kind === 'aborted')
    return sent
      ? error('CONNECTION_LOST', `Broken off: ${detail}`, outcome)
      : error('UNREACHABLE', `Not sent: ${detail}`);
  if (!sent) {
    const [what, why] = unreachable(hasProxy, detail);
    return error('UNREACHABLE', what, ` ${why}`);
  }
  if (NOT_HTTP.test(detail))
    return error('INVALID_RESPONSE', `The answer is not HTTP (${detail})`, outcome);
  const when = ' It was sent, and its answer did not come as a whole.';
  return error('CONNECTION_LOST', `The connection broke off (${detail})`, when + outcome);
}

const OF_OPENSSL = /:SSL routines:\w*:([\w ]{1,60}):/;

/** The code of a transport error; never its text, which may hold a URL. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { code } = error as NodeJS.ErrnoException;
  // If data was written before TLS failed, as of a channel, Node.js has the code of OpenSSL only in the text.
  const [, why] = (code === 'EPROTO' && OF_OPENSSL.exec(error.message)) || [];
  if (why !== undefined) return `ERR_SSL_${why.replaceAll(' ', '_').toUpperCase()}`;
  if (typeof code === 'string') return code;
  // Happy Eyeballs: one error for several addresses, each with its own code.
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  return error.name;
}
