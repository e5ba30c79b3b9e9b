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

/** Why a command that waited has ended: somebody has cancelled it. */
export const CANCELLED = 'Cancelled before its device showed itself';

/** What to do where too many commands wait. */
export const FEWER = 'Send fewer, or let them expire sooner.';

/** The error for a command that never began. @param device as errors name it @param why completes "Not sent: " */
export const notSent = (device: string, why: string, what = 'command'): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', `Not sent: ${why}. The ${what} to ${device} never began.`);

/** The error for a command that would be one too many. @param waiting a sentence: what waits already */
export const queueFull = (
  device: string,
  waiting: string,
  advice: string = ERRORS.QUEUE_FULL.advice,
  what = 'command',
): DeviceCloudError =>
  new DeviceCloudError(
    'QUEUE_FULL',
    `${waiting}. The ${what} to ${device} was not sent. ${advice}`,
  );

/** The error for a command that was to wait no longer. @param why a sentence without its full stop */
export const cancelled = (device: string, why: string): DeviceCloudError =>
  new DeviceCloudError('CANCELLED', `${why}. The waiting command to ${device} was not sent.`);

/** The error for a command that an earlier process has left, and nothing tells how long ago. */
export const tooOld = (device: string): DeviceCloudError =>
  new DeviceCloudError(
    'EXPIRED',
    `Node-RED ended before the service told its time: how long the command to ${device} has waited is unknown. It was not sent. Send it again if it is still wanted.`,
  );

/** The error for a command whose device did not show itself. */
export const expired = (device: string, seconds: number): DeviceCloudError =>
  new DeviceCloudError(
    'EXPIRED',
    `Waited ${seconds} s for the device. The command to ${device} was not sent. ${ERRORS.EXPIRED.advice}`,
  );
