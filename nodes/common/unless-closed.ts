import { DeviceCloudError } from '../../src/index';

/** Waits that end when a node closes: a context store, for example, may never answer. */
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
  /** The waits that go on, by what ends them. */
  const ends = new Set<(error: unknown) => void>();
  return {
    unlessClosed: (work) =>
      new Promise((resolve, reject) => {
        const over = (): boolean => ends.delete(reject);
        ends.add(reject);
        work.then(over, over);
        work.then(resolve, reject);
      }),
    end() {
      for (const end of ends) end(closedMeanwhile());
    },
  };
}
