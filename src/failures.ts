import { DeviceCloudError, type ErrorCode } from './errors';
import type { Failure } from './exchange';
import { oneLine } from './show';

/** A call as its errors name it. */
export interface Call {
  /** What the call does and to which device: `Push to device 10000001`. */
  name: string;
  /** A call that reaches a device is never repeated, and without an answer it may have acted. */
  reach: 'device' | 'cloud';
}

const MAX_SERVICE_TEXT = 300;

const STATUS: Readonly<Record<number, readonly [ErrorCode, advice: string]>> = {
  400: ['BAD_REQUEST', 'Check the parameters of the call.'],
  401: [
    'UNAUTHORIZED',
    'Check the keys of the configuration and the clock of this machine; the application may have been deleted.',
  ],
  403: ['UNAUTHORIZED', 'The keys of the configuration are not allowed to do this.'],
  404: ['NOT_FOUND', 'Check the chip number, and that the application still exists.'],
  502: ['GATEWAY', 'The gateway that holds the device connection failed.'],
  504: ['GATEWAY', 'The gateway that holds the device connection failed.'],
};

function ofStatus(statusCode: number): readonly [ErrorCode, advice: string] {
  if (statusCode >= 300 && statusCode < 400) {
    return ['REDIRECT', 'Redirects are never followed: check the address in the configuration.'];
  }
  const known = STATUS[statusCode];
  if (known) return known;
  return statusCode >= 500
    ? ['SERVER_ERROR', 'The service failed; try again later.']
    : ['UNEXPECTED_STATUS', 'The interface does not describe this status; check the address.'];
}

/** undici's parser errors: some carry a code of llhttp, most only their name. */
const NOT_HTTP = /^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$)/;

const UNKNOWN_OUTCOME = 'Whether the device acted is unknown, so the call was not repeated.';

/** The error for an answer whose status is not a success (section 7), with the service's own `msg`. */
export function statusError(
  call: Call,
  statusCode: number,
  msg: string | undefined,
): DeviceCloudError {
  const [code, advice] = ofStatus(statusCode);
  const said = msg === undefined || msg === '' ? '' : ` "${oneLine(msg, MAX_SERVICE_TEXT)}"`;
  const outcome = call.reach === 'device' && statusCode >= 500 ? ` ${UNKNOWN_OUTCOME}` : '';
  return new DeviceCloudError(
    code,
    `${call.name} failed: the service answered ${statusCode}${said}. ${advice}${outcome}`,
    statusCode,
  );
}

/** The error for an answer that is not what the interface describes. */
export function answerError(call: Call, what: string, statusCode: number): DeviceCloudError {
  const outcome = call.reach === 'device' ? ' The device may have acted.' : '';
  return new DeviceCloudError(
    'INVALID_RESPONSE',
    `${call.name} failed: ${what}.${outcome} Check that the address is the service's, and no proxy or portal answers in its place.`,
    statusCode,
  );
}

function timeoutText(call: Call, seconds: number, sent: boolean): string {
  if (!sent)
    return `it was not sent within ${seconds} s, since no connection to the service became free or came about.`;
  return call.reach === 'device'
    ? `no answer within ${seconds} s. The device is probably offline; whether it acted is unknown.`
    : `no answer within ${seconds} s. Try again later, or set a longer time-out.`;
}

/**
 * The error for a request that got no answer, or half of one.
 * @param origin scheme, host and port of the service
 * @param seconds how long the call could take
 */
export function transportError(
  call: Call,
  failure: Failure,
  origin: string,
  seconds: number,
): DeviceCloudError {
  const failed = `${call.name} failed: `;
  const outcome = call.reach === 'device' ? ` ${UNKNOWN_OUTCOME}` : '';
  const detail = failure.detail ?? failure.kind;
  switch (failure.kind) {
    case 'timeout':
      return new DeviceCloudError('TIMEOUT', failed + timeoutText(call, seconds, failure.sent));
    case 'aborted':
      return failure.sent
        ? new DeviceCloudError(
            'CONNECTION_LOST',
            `${failed}it was broken off, since the node was closed.${outcome}`,
          )
        : new DeviceCloudError(
            'UNREACHABLE',
            `${failed}it was not sent, since the node was closed.`,
          );
    case 'too-large':
      return new DeviceCloudError(
        'INVALID_RESPONSE',
        `${failed}the answer is over 64 MiB.${outcome}`,
      );
    case 'error':
      if (!failure.sent) {
        return new DeviceCloudError(
          'UNREACHABLE',
          `${failed}it was not sent, since ${origin} could not be reached (${detail}). ` +
            'Check the address, the network, TLS and proxy settings.',
        );
      }
      if (NOT_HTTP.test(detail)) {
        return new DeviceCloudError(
          'INVALID_RESPONSE',
          `${failed}the answer is not HTTP (${detail}).${outcome}`,
        );
      }
      return new DeviceCloudError(
        'CONNECTION_LOST',
        `${failed}the connection broke off before the whole answer came (${detail}).${outcome}`,
      );
  }
}
