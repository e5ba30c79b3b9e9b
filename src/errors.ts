/** Every code a {@link DeviceCloudError} can have. */
export const ERROR_CODES = [
  'NOT_CONFIGURED',
  'INVALID_INPUT',
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'NOT_FOUND',
  'REDIRECT',
  'GATEWAY',
  'SERVER_ERROR',
  'UNEXPECTED_STATUS',
  'TIMEOUT',
  'UNREACHABLE',
  'CONNECTION_LOST',
  'INVALID_RESPONSE',
  'NOT_ACCEPTED',
  'QUEUE_FULL',
  'NOT_CONNECTED',
  'EXPIRED',
  'NO_REPLY',
  'NO_VALUE',
] as const;

/** The stable name of a kind of failure. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Codes that leave it open whether a command was carried out. */
const MAY_HAVE_ACTED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'GATEWAY',
  'SERVER_ERROR',
  'UNEXPECTED_STATUS',
  'TIMEOUT',
  'CONNECTION_LOST',
  'INVALID_RESPONSE',
  'NOT_ACCEPTED',
  'NO_REPLY',
]);

/**
 * The one error of this package. `code` is stable; `message` names the call and the device, repeats
 * what the service said, and says what to do. There is never a `cause`: an error of a library below
 * may carry a signed URL.
 */
export class DeviceCloudError extends Error {
  /** Identifies the class where `instanceof` cannot, for example across two copies of the package. */
  override readonly name = 'DeviceCloudError';
  /** Which kind of failure it is. */
  readonly code: ErrorCode;
  /** The HTTP status, where there was an answer. */
  declare readonly statusCode?: number;
  /** Of `NOT_CONFIGURED`: the npm package that has to be installed. */
  declare readonly missingPackage?: string;
  readonly #uncertain: boolean;

  /** @param uncertain default: as the code says */
  constructor(
    code: ErrorCode,
    message: string,
    statusCode?: number,
    uncertain = MAY_HAVE_ACTED.has(code),
  ) {
    super(message);
    this.code = code;
    if (statusCode !== undefined) this.statusCode = statusCode;
    this.#uncertain = uncertain;
  }

  /** Of a command: whether it may have been carried out all the same. If false, it certainly was not. */
  get uncertain(): boolean {
    return this.#uncertain;
  }
}

/** Whether a value is a {@link DeviceCloudError}, of one of the given codes if any are given. */
export function isDeviceCloudError(
  value: unknown,
  ...codes: ErrorCode[]
): value is DeviceCloudError {
  return value instanceof DeviceCloudError && (codes.length === 0 || codes.includes(value.code));
}

/** The error for settings that are missing or invalid. Nothing was opened. */
export function notConfigured(message: string): DeviceCloudError {
  return new DeviceCloudError('NOT_CONFIGURED', message);
}

/** The error for a message or property that is invalid for a call. Nothing was sent. */
export function invalidInput(message: string): DeviceCloudError {
  return new DeviceCloudError('INVALID_INPUT', message);
}
