import { DeviceCloudError, ERRORS } from '../errors';
import type { CallProgress } from '../types';
import { catchRejection } from '../util/thrown';

/** Shows a caller what its call waits for. It never throws. */
export type Progress = (progress: CallProgress) => void;

const ignore = (): void => undefined;

/** A caller's callback whose errors are isolated: both what it throws and what its promise rejects with. */
export function isolatedProgress<P = CallProgress>(
  onProgress: (progress: P) => unknown,
): (progress: P) => void {
  return (progress) => {
    try {
      catchRejection(onProgress(progress), ignore);
    } catch {
      // Progress is only for display: the call continues.
    }
  };
}

export const CALLING: CallProgress = { state: 'calling' };
export const AWAITING_DEVICE: CallProgress = { state: 'awaiting-device' };

/** Completes "was not sent: ". */
export const CLOSED = 'the client was closed';

/** The error for a command that never began. @param why completes "was not sent: " */
export const notSent = (chipid: string, why: string, what = 'command'): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', `The ${what} to device ${chipid} was not sent: ${why}.`);

/** The error for a command that would be one too many. @param already completes "was not sent: " */
export const queueFull = (
  chipid: string,
  already: string,
  advice: string = ERRORS.QUEUE_FULL.advice,
  what = 'command',
): DeviceCloudError =>
  new DeviceCloudError(
    'QUEUE_FULL',
    `The ${what} to device ${chipid} was not sent: ${already} already. ${advice}`,
  );

/** The error for a command whose device did not show itself. */
export const expired = (chipid: string, seconds: number): DeviceCloudError =>
  new DeviceCloudError(
    'EXPIRED',
    `The command to device ${chipid} was not sent: it waited ${seconds} s for the device and expired. ` +
      ERRORS.EXPIRED.advice,
  );
