import type { CallProgress } from '../types';
import { catchRejection } from '../util/thrown';

/** Shows a caller what its call waits for. It never throws. */
export type Progress = (progress: CallProgress) => void;

const ignore = (): void => undefined;

/** A caller's callback whose errors go no further: neither what it throws nor what its promise rejects with. */
export function isolatedProgress(onProgress: (progress: CallProgress) => unknown): Progress {
  return (progress) => {
    try {
      catchRejection(onProgress(progress), ignore);
    } catch {
      // Progress is for show: the call goes on.
    }
  };
}

export const CALLING: CallProgress = { state: 'calling' };
export const AWAITING_CLUSTER: CallProgress = { state: 'awaiting-cluster' };
