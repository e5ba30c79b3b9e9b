import { DeviceCloudError, ERRORS } from '../errors';
import type { CallProgress } from '../types';

/** Shows a caller what its call waits for. It never throws. */
export type Progress = (progress: CallProgress) => void;

export const CALLING: CallProgress = { state: 'calling' };
export const AWAITING_DEVICE: CallProgress = { state: 'awaiting-device' };

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
