import type { CallProgress } from '../types';
import { catchRejection } from '../util/thrown';

/** Shows a caller what its call waits for. It never throws. */
export type Progress = (progress: CallProgress) => void;

const ignore = (): void => undefined;

/** A caller's callback whose errors are isolated: both what it throws and what its promise rejects with. */
export function isolatedProgress(onProgress: (progress: CallProgress) => unknown): Progress {
  return (progress) => {
    try {
      catchRejection(onProgress(progress), ignore);
    } catch {
      // Progress is only for display: the call continues.
    }
  };
}

export const CALLING: CallProgress = { state: 'calling' };
export const AWAITING_CLUSTER: CallProgress = { state: 'awaiting-cluster' };
