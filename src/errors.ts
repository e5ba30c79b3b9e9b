/** What a failure means, whichever call it ended. */
interface Meaning {
  /** A command may have been carried out. */
  readonly mayHaveActed?: true;
  /** A read that is repeated may succeed: the service, or the way to it, has failed. */
  readonly isWorthRetry?: true;
  /** Neither the device nor the service itself has answered: what waits for the device waits for its next sign of life. */
  readonly isSilence?: true;
  /** It counts as a sign that the device is offline (section 4.2). */
  readonly isOffline?: true;
  /** What to do, unless the call can say it more exactly. */
  readonly advice?: string;
  /** What helps a command that can wait for its device. */
  readonly remedy?: string;
}

/** In the words of the nodes' dialog, and of the client. */
const WAIT =
  'For a device that is often away, choose Send: when the device is online (when: "online").';

/** Every code a {@link DeviceCloudError} can have, and what it means. Nothing else decides by lists of codes. */
export const ERRORS = {
  NOT_CONFIGURED: {},
  INVALID_INPUT: {},
  BAD_REQUEST: { advice: 'Check the parameters of the call.' },
  UNAUTHORIZED: { advice: 'The keys of the configuration are not allowed to do this.' },
  NOT_FOUND: {},
  REDIRECT: { advice: 'Redirects are never followed: check the address in the configuration.' },
  GATEWAY: {
    mayHaveActed: true,
    isWorthRetry: true,
    isSilence: true,
    isOffline: true,
    advice: 'The service is not available behind its gateway; try again later.',
    remedy: WAIT,
  },
  SERVER_ERROR: {
    mayHaveActed: true,
    isWorthRetry: true,
    advice: 'The service failed; try again later.',
  },
  UNEXPECTED_STATUS: {
    mayHaveActed: true,
    advice: 'The interface does not describe this status; check the address.',
  },
  TIMEOUT: {
    mayHaveActed: true,
    isSilence: true,
    isOffline: true,
    advice: 'Try again later, or set a longer time-out.',
    remedy: WAIT,
  },
  UNREACHABLE: {
    isWorthRetry: true,
    isSilence: true,
    advice: 'Check the address, the network, TLS and proxy settings.',
  },
  CONNECTION_LOST: { mayHaveActed: true, isWorthRetry: true, isSilence: true },
  INVALID_RESPONSE: {
    mayHaveActed: true,
    advice: "Check that the address is the service's, and no proxy or portal answers in its place.",
  },
  NOT_ACCEPTED: { mayHaveActed: true },
  QUEUE_FULL: {
    advice: 'It answers more slowly than commands arrive: send fewer, or limit their rate.',
  },
  NOT_CONNECTED: { advice: 'Check the keys, the address and the network.' },
  EXPIRED: {
    advice: 'Check the power and the network of the device, or give the command more time.',
  },
  CANCELLED: {},
  NOT_ACKNOWLEDGED: {},
  NO_REPLY: {
    mayHaveActed: true,
    advice: 'Compare the reply, as a listener shows it, with what the request waits for.',
  },
  NO_VALUE: {},
} as const satisfies Record<string, Meaning>;

/** The stable name of a kind of failure. */
export type ErrorCode = keyof typeof ERRORS;

/** Every code a {@link DeviceCloudError} can have. */
export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

/** The code may be one that a newer version has kept. */
const meaningOf = (code: ErrorCode): Meaning => (ERRORS as Record<string, Meaning>)[code] ?? {};

/**
 * The one error of this package. `code` is stable; `message` begins with it and a few words, names the call and the device,
 * repeats what the service said, and says what to do. There is never a `cause`: an error of a library below may carry a
 * signed URL.
 */
export class DeviceCloudError extends Error {
  /** What JSON shows that it is. */
  override readonly name = 'DeviceCloudError';
  /** Which kind of failure it is. */
  readonly code: ErrorCode;
  /** The HTTP status, where there was an answer. */
  declare readonly statusCode?: number;
  /** Of a command: whether it may have been carried out. If false, it certainly was not. */
  readonly uncertain: boolean;

  /**
   * @param message without the code, which is put before it
   * @param uncertain default: as the code says
   */
  constructor(
    code: ErrorCode,
    message: string,
    statusCode?: number,
    uncertain = meaningOf(code).mayHaveActed === true,
  ) {
    super(`${code}: ${message}`);
    this.code = code;
    this.uncertain = uncertain;
    if (statusCode !== undefined) this.statusCode = statusCode;
  }

  /** Node-RED shows this, and cuts it in narrow places: it begins with the code. */
  override toString(): string {
    return this.message;
  }
}

/** The message of an error without its code, to be repeated in another one. */
export const withoutCode = ({
  code,
  message,
}: Pick<DeviceCloudError, 'code' | 'message'>): string =>
  message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;

/** Whether a value is a {@link DeviceCloudError}, of one of the given codes if any are given. */
export function isDeviceCloudError<C extends ErrorCode>(
  value: unknown,
  ...codes: C[]
): value is DeviceCloudError & { readonly code: C } {
  if (!(value instanceof DeviceCloudError)) return false;
  return codes.length === 0 || (codes as ErrorCode[]).includes(value.code);
}

/** Whether a read that has failed may succeed if it is repeated. */
export const isWorthRetry = (error: unknown): boolean =>
  isDeviceCloudError(error) && meaningOf(error.code).isWorthRetry === true;

/** Whether a call has ended without an answer of the device or of the service itself. */
export const isSilence = (error: unknown): boolean =>
  isDeviceCloudError(error) && meaningOf(error.code).isSilence === true;

/** Whether the error of a call to a device shows that the device is offline. */
export const isOffline = (error: unknown): boolean =>
  isDeviceCloudError(error) && meaningOf(error.code).isOffline === true;

const waits = new WeakMap<object, number>();

/** Notes that the answer behind an error asks to wait (`Retry-After`), in milliseconds. @returns the error */
export function asksToWait(error: DeviceCloudError, wait: number): DeviceCloudError {
  waits.set(error, wait);
  return error;
}

/** For how many milliseconds the answer behind an error asks to wait; 0 if it does not. */
export const waitOf = (error: unknown): number =>
  (error instanceof DeviceCloudError && waits.get(error)) || 0;

/** The error for settings that are missing or invalid. Nothing was opened. */
export function notConfigured(message: string): DeviceCloudError {
  return new DeviceCloudError('NOT_CONFIGURED', message);
}

/** The error for a message or property that is invalid for a call. Nothing was sent. */
export function invalidInput(message: string): DeviceCloudError {
  return new DeviceCloudError('INVALID_INPUT', message);
}
