import { isDeviceCloudError } from '../../errors';
import type { PacedAttempt } from '../../pace/attempt';

/**
 * Requests the history of a device once.
 * @param onRetryAfter called with the milliseconds that a refusal asks to wait
 * @throws DeviceCloudError
 */
export type ReadHistory = (
  chipid: string,
  signal: AbortSignal,
  onRetryAfter?: (wait: number) => void,
) => Promise<readonly unknown[]>;

/** How often a reading is retried before its failure is reported, like every read that only reaches the cloud. */
export const SILENT_TRIES = 2;

/** Whether another try may succeed: the service, or the way to it, failed or is overloaded. */
export const isPassing = (error: unknown): boolean =>
  isDeviceCloudError(error, 'UNREACHABLE', 'CONNECTION_LOST', 'GATEWAY', 'SERVER_ERROR') ||
  (isDeviceCloudError(error) && error.statusCode === 429);

/** The reason of a failure for the limiter: an HTTP status, or the error code that fits best. */
function reasonOf(error: unknown): string {
  if (!isDeviceCloudError(error)) return 'error';
  if (error.statusCode !== undefined) return String(error.statusCode);
  if (error.code === 'TIMEOUT') return 'ETIMEDOUT';
  if (error.code === 'UNREACHABLE') return 'ECONNREFUSED';
  return error.code === 'CONNECTION_LOST' ? 'ECONNRESET' : error.code;
}

/** Reads a history once, and ends the turn with the result. @throws DeviceCloudError */
export async function readInTurn(
  read: ReadHistory,
  chipid: string,
  signal: AbortSignal,
  turn: PacedAttempt,
): Promise<readonly unknown[]> {
  let retryAfter: number | undefined;
  try {
    const answer = await read(chipid, signal, (wait) => (retryAfter = wait));
    turn.succeeded();
    return answer;
  } catch (error) {
    // An aborted reading says nothing about the service.
    if (signal.aborted) turn.cancel();
    else turn.failed(reasonOf(error), retryAfter);
    throw error;
  }
}
