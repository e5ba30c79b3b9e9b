import { DeviceCloudError } from '../errors';
import type { Failure } from './exchange';
import { UNKNOWN_OUTCOME, type Call } from './failures';

/** undici's parser errors: some carry a code of llhttp, most only their name. */
const NOT_HTTP = /^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$)/;

/**
 * Seconds of silence after which a device is probably offline. Section 4.2 says so of about 10, and the public
 * server of 2016 waits 8 for the answer to a refresh.
 */
const SILENCE = 8;

function timeoutText(call: Call, seconds: number, { sent, detail }: Failure): string {
  if (!sent)
    return `it was not sent within ${seconds} s, since no connection to the service was available.`;
  const advice = {
    device:
      seconds >= SILENCE
        ? 'The device is probably offline; whether it acted is unknown.'
        : 'Whether the device acted is unknown. A longer time-out may show whether it is offline.',
    command: 'Whether it was carried out is unknown.',
    cloud: 'Try again later, or set a longer time-out.',
  };
  return `${detail ?? `no answer within ${seconds} s`}. ${advice[call.reach]}`;
}

/** Where a request goes: scheme, host and port of the service, and of a proxy on the way. */
export interface Route {
  origin: string;
  proxy: string | undefined;
}

function unreachable({ origin, proxy }: Route, detail: string): string {
  const [, status] = /^PROXY_(\d+)$/.exec(detail) ?? [];
  if (proxy !== undefined && status !== undefined) {
    const why = status === '407' ? 'it asks for a user name and password' : 'it refused';
    return (
      `the proxy ${proxy} made no connection to ${origin}: ${why} (${status}). ` +
      'Check the proxy settings, its user name and password, and what it allows.'
    );
  }
  const through = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  return (
    `${origin} could not be reached${through} (${detail}). ` +
    'Check the address, the network, TLS and proxy settings.'
  );
}

/**
 * The error for a request that got no answer, or half of one.
 * @param route the service and the proxy on the way to it: scheme, host and port of each
 * @param seconds how long the call could take
 */
export function transportError(
  call: Call,
  failure: Failure,
  route: Route,
  seconds: number,
): DeviceCloudError {
  const failed = `${call.name} failed: `;
  const outcome = UNKNOWN_OUTCOME[call.reach];
  const detail = failure.detail ?? failure.kind;
  switch (failure.kind) {
    case 'timeout':
      return new DeviceCloudError(
        'TIMEOUT',
        failed + timeoutText(call, seconds, failure),
        undefined,
        failure.sent,
      );
    case 'aborted':
      return failure.sent
        ? new DeviceCloudError(
            'CONNECTION_LOST',
            `${failed}it was broken off: ${detail}.${outcome}`,
          )
        : new DeviceCloudError('UNREACHABLE', `${failed}it was not sent: ${detail}.`);
    case 'too-large':
      return new DeviceCloudError(
        'INVALID_RESPONSE',
        `${failed}the answer is over ${detail}.${outcome} Ask for less at a time, ` +
          'such as the uploads of a few days.',
      );
    case 'error':
      if (!failure.sent) {
        return new DeviceCloudError(
          'UNREACHABLE',
          `${failed}it was not sent, since ${unreachable(route, detail)}`,
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
