import { DeviceCloudError } from '../../src/index';

/** Waits that end when a node closes: a context store, for one, may never answer. */
export interface Waits {
  /** Waits for work. @throws DeviceCloudError `CONNECTION_LOST` if the wait is ended first */
  unlessClosed<T>(work: Promise<T>): Promise<T>;
  /** Ends every wait. */
  end(): void;
}

/** The error for a call that a close has interrupted: its outcome is unknown. */
export const closedMeanwhile = (): DeviceCloudError =>
  new DeviceCloudError('CONNECTION_LOST', 'The node was closed before the call had ended.');

export function createWaits(): Waits {
  const ends = new Set<() => void>();
  return {
    unlessClosed: (work) =>
      new Promise((resolve, reject) => {
        const end = (): void => reject(closedMeanwhile());
        const over = (): boolean => ends.delete(end);
        ends.add(end);
        work.then(resolve, reject).then(over, over);
      }),
    end() {
      for (const end of ends) end();
    },
  };
}
