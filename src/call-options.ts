import { parseFormat } from './input/push-payload';
import { readInput } from './input/readable';
import { parseSignal } from './input/signal';
import type { RecoverOptions } from './recovery/options';
import { readTimeout } from './settings';
import type { CallOptions, PushFormat, PushOptions } from './types';

/** What ends a call before its answer. */
export interface Limits {
  seconds: number;
  signal: AbortSignal | undefined;
}

/**
 * Reads `timeout` and `signal`.
 * @param usual the time-out in seconds if the options have none
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export function readLimits(options: CallOptions | undefined, usual: number): Limits {
  return readInput('options object', () => ({
    seconds: readTimeout(options?.timeout, usual),
    signal: parseSignal(options?.signal),
  }));
}

/** Reads `format`. @throws DeviceCloudError `INVALID_INPUT` */
export const readFormat = (options: PushOptions | undefined): PushFormat =>
  readInput('options object', () => parseFormat(options?.format ?? 'MSG'));

/**
 * Reads each option once: recovery uses them for as long as it runs.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readRecovery(options: RecoverOptions | undefined): RecoverOptions | undefined {
  if (!options) return undefined;
  return readInput('options object for recovery', () => {
    const { encoding, zone, start, save } = options;
    const read = { encoding, zone, start };
    return save ? { ...read, save: (position) => save.call(options, position) } : read;
  });
}
