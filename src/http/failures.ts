import { DeviceCloudError, type ErrorCode } from '../errors';
import { oneLine } from '../util/show';

/** A call as its errors name it. */
export interface Call {
  /** What the call does and to which device: `Push to device 10000001`. */
  name: string;
  /**
   * Whether the call waits for a `device` to answer; is a `command` that does something but is not known
   * to wait; or only reads in the `cloud`. Only the last is ever repeated.
   */
  reach: 'device' | 'command' | 'cloud';
  /** Whether the call names a device, which then may not exist. */
  ofDevice: boolean;
}

const MAX_SERVICE_TEXT = 300;

const STATUS: Readonly<Record<number, readonly [ErrorCode, advice: string]>> = {
  400: ['BAD_REQUEST', 'Check the parameters of the call.'],
  401: [
    'UNAUTHORIZED',
    'Check the keys and the application id of the configuration, and the clock of this machine; the application may have been deleted.',
  ],
  403: ['UNAUTHORIZED', 'The keys of the configuration are not allowed to do this.'],
};

/** Section 7: the device or "the application information" does not exist. */
const notFoundAdvice = (call: Call): string =>
  call.ofDevice
    ? 'Check the number of the device, and the application id of the configuration: one of them is unknown to the service.'
    : 'Check the application id and the address of the configuration; the application may have been deleted.';

/** Section 7: mostly the gateway that holds the device connection. Section 4.2: silence means offline. */
const gatewayAdvice = (call: Call): string =>
  call.reach === 'device'
    ? 'Most often the device did not answer the gateway that holds its connection, and is probably offline.'
    : 'A gateway of the service failed; try again later.';

function ofStatus(call: Call, statusCode: number): readonly [ErrorCode, advice: string] {
  if (statusCode >= 300 && statusCode < 400) {
    return ['REDIRECT', 'Redirects are never followed: check the address in the configuration.'];
  }
  if (statusCode === 404) return ['NOT_FOUND', notFoundAdvice(call)];
  if (statusCode === 502 || statusCode === 504) return ['GATEWAY', gatewayAdvice(call)];
  const known = STATUS[statusCode];
  if (known) return known;
  return statusCode >= 500
    ? ['SERVER_ERROR', 'The service failed; try again later.']
    : ['UNEXPECTED_STATUS', 'The interface does not describe this status; check the address.'];
}

/** The uncertainty after a call whose answer is missing or a failure. */
export const UNKNOWN_OUTCOME: Readonly<Record<Call['reach'], string>> = {
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

/**
 * The error for an answer whose status is not a success (section 7).
 * @param said what the service said, without secrets
 */
export function statusError(
  call: Call,
  statusCode: number,
  said: string | undefined,
): DeviceCloudError {
  const [code, advice] = ofStatus(call, statusCode);
  const words = said === undefined || said === '' ? '' : ` ${quote(said)}`;
  const outcome = statusCode >= 500 ? UNKNOWN_OUTCOME[call.reach] : '';
  return new DeviceCloudError(
    code,
    `${call.name} failed: the service answered ${statusCode}${words}. ${advice}${outcome}`,
    statusCode,
  );
}

const NOT_THE_SERVICE =
  "Check that the address is the service's, and no proxy or portal answers in its place.";

/**
 * The error for an answer that is not what the interface describes.
 * @param more `said`, the answer's `msg` without secrets; `advice`, what to do about it
 */
export function answerError(
  call: Call,
  what: string,
  statusCode: number,
  { said, advice = NOT_THE_SERVICE }: { said?: string; advice?: string } = {},
): DeviceCloudError {
  const words = said === undefined || said === '' ? '' : `; the service says ${quote(said)}`;
  return new DeviceCloudError(
    'INVALID_RESPONSE',
    `${call.name} failed: ${what}${words}.${MAY_HAVE_ACTED[call.reach]} ${advice}`,
    statusCode,
  );
}

/** Why an answer of the right shape is not a success. */
export interface Refusal {
  /** The name of the answer in the error: `the msg`. */
  what: string;
  /** The service's own words. */
  said?: string;
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
    `${call.name} was not accepted: the service answered ${statusCode} with ${words}, not with OK or success.` +
      UNKNOWN_OUTCOME[call.reach],
    statusCode,
  );
}
