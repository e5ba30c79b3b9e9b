import { DeviceCloudError } from '../errors';
import { abortReason, onAbort } from './deadline';

/** The most commands that may wait for one device; the next one fails with `QUEUE_FULL`. */
export const MAX_WAITING = 100;

/** One command at a time per device, in the order of arrival; devices do not wait for each other. */
export interface DeviceQueues {
  /**
   * Runs a command when all earlier ones of its device have ended.
   * @param chipid the device
   * @param command starts the call; the next one starts when its promise has settled
   * @param signal removes a command that is still waiting
   * @throws DeviceCloudError `QUEUE_FULL` if 100 wait already, `UNREACHABLE` if it was removed
   */
  run<T>(chipid: string, command: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Devices with a command that runs or waits, or with a gap to keep. */
  readonly size: number;
  /** Removes every waiting command and clears the timers. The caller ends the running ones. */
  close(): void;
}

interface Waiting {
  start: () => void;
  refuse: (why: string) => void;
}

interface DeviceQueue {
  waiting: Waiting[];
  timer: NodeJS.Timeout | undefined;
}

const notSent = (chipid: string, why: string): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', `The command to device ${chipid} was not sent: ${why}.`);

const full = (chipid: string): DeviceCloudError =>
  new DeviceCloudError(
    'QUEUE_FULL',
    `The command to device ${chipid} was not sent: ${MAX_WAITING} commands wait for this device already. ` +
      'It answers more slowly than commands arrive: send fewer, or limit their rate.',
  );

/**
 * @param gap milliseconds between the end of a command and the start of the next one to the device
 * @param explain why a signal aborted, without secrets
 */
export function createDeviceQueues(gap: number, explain = abortReason): DeviceQueues {
  const queues = new Map<string, DeviceQueue>();

  const startNext = (chipid: string, queue: DeviceQueue): void => {
    queue.timer = undefined;
    const next = queue.waiting.shift();
    if (next) next.start();
    else queues.delete(chipid);
  };

  const ended = (chipid: string, queue: DeviceQueue): void => {
    if (queues.get(chipid) !== queue) return;
    if (gap > 0) queue.timer = setTimeout(startNext, gap, chipid, queue);
    else startNext(chipid, queue);
  };

  const wait = (
    chipid: string,
    queue: DeviceQueue,
    signal: AbortSignal | undefined,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      const entry: Waiting = {
        start: () => {
          ignore?.();
          resolve();
        },
        refuse: (why) => {
          ignore?.();
          reject(notSent(chipid, why));
        },
      };
      const ignore =
        signal &&
        onAbort(signal, () => {
          queue.waiting.splice(queue.waiting.indexOf(entry), 1);
          entry.refuse(explain(signal));
        });
      queue.waiting.push(entry);
    });

  return {
    async run(chipid, command, signal) {
      if (signal?.aborted) throw notSent(chipid, explain(signal));
      let queue = queues.get(chipid);
      if (!queue) {
        queue = { waiting: [], timer: undefined };
        queues.set(chipid, queue);
      } else {
        if (queue.waiting.length >= MAX_WAITING) throw full(chipid);
        await wait(chipid, queue, signal);
      }
      try {
        return await command();
      } finally {
        ended(chipid, queue);
      }
    },
    get size() {
      return queues.size;
    },
    close() {
      for (const queue of queues.values()) {
        clearTimeout(queue.timer);
        for (const waiting of queue.waiting.splice(0)) waiting.refuse('the client was closed');
      }
      queues.clear();
    },
  };
}
