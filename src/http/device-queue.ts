import { DeviceCloudError } from '../errors';
import { abortReason, onAbort } from './deadline';
import { CALLING, type Progress } from './progress';
import { WaitingCommands, type WaitingCommand } from './waiting-commands';

/** The most commands that may wait for one device; the next one fails with `QUEUE_FULL`. */
export const MAX_WAITING = 100;

/** The options of a command. */
export interface QueueOptions {
  /** Removes the command while it still waits. */
  signal?: AbortSignal | undefined;
  /** Is called with the command's place whenever it changes, and when its turn has come. */
  progress?: Progress | undefined;
  /** Whether it counts towards the 100 that may wait, default true. */
  counted?: boolean;
}

/** The caller of a command, who may abort it and is shown what it waits for. */
export interface CommandCaller {
  readonly signal: AbortSignal | undefined;
  readonly progress: Progress | undefined;
}

/** Own code, which never throws: is called with how many commands of a device wait and run. */
export type QueueObserver = (chipid: string, waiting: number, running: number) => void;

/** One command at a time per device, in the order of arrival; devices do not wait for each other. */
export interface DeviceQueues {
  /**
   * Runs a command when all earlier ones of its device have ended.
   * @param chipid the device
   * @param command starts the call; the next one starts when its promise has settled
   * @throws DeviceCloudError `QUEUE_FULL` if 100 wait already, `UNREACHABLE` if it was removed
   */
  run<T>(chipid: string, command: () => Promise<T>, options?: QueueOptions): Promise<T>;
  /** How many commands of a device wait, and how many run: 0 or 1. */
  load(chipid: string): { waiting: number; running: number };
  /** Devices with a command that runs or waits, or with a gap to keep. */
  readonly size: number;
  /** Removes every waiting command and clears the timers. The caller ends the running ones. */
  close(): void;
}

interface DeviceQueue {
  waiting: WaitingCommands;
  running: 0 | 1;
  timer: NodeJS.Timeout | undefined;
}

const NO_OPTIONS: QueueOptions = {};

/** The error for a command that left a queue before its turn. @param why completes "was not sent: " */
export const notSent = (chipid: string, why: string): DeviceCloudError =>
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
export function createDeviceQueues(
  gap: number,
  explain = abortReason,
  observer?: QueueObserver,
): DeviceQueues {
  const queues = new Map<string, DeviceQueue>();

  const changed = (chipid: string, queue: DeviceQueue): void => {
    observer?.(chipid, queue.waiting.length, queue.running);
    queue.waiting.showPlaces(queue.running);
  };

  const startNext = (chipid: string, queue: DeviceQueue): void => {
    queue.timer = undefined;
    const next = queue.waiting.shift();
    queue.running = next ? 1 : 0;
    if (next) next.start();
    else queues.delete(chipid);
    changed(chipid, queue);
  };

  const ended = (chipid: string, queue: DeviceQueue): void => {
    if (queues.get(chipid) !== queue) return;
    if (gap === 0) {
      startNext(chipid, queue);
      return;
    }
    queue.running = 0;
    queue.timer = setTimeout(startNext, gap, chipid, queue);
    changed(chipid, queue);
  };

  const wait = (
    chipid: string,
    queue: DeviceQueue,
    { signal, progress, counted = true }: QueueOptions,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      const entry: WaitingCommand = {
        start: () => {
          ignore?.();
          resolve();
        },
        refuse: (why) => {
          ignore?.();
          reject(notSent(chipid, why));
        },
        ...{ progress, counted, ahead: -1 },
      };
      const ignore =
        signal &&
        onAbort(signal, () => {
          queue.waiting.remove(entry);
          entry.refuse(explain(signal));
          changed(chipid, queue);
        });
      queue.waiting.add(entry);
      changed(chipid, queue);
    });

  return {
    async run(chipid, command, options = NO_OPTIONS) {
      const { signal, progress, counted = true } = options;
      if (signal?.aborted) throw notSent(chipid, explain(signal));
      let queue = queues.get(chipid);
      if (!queue) {
        queue = { waiting: new WaitingCommands(), running: 1, timer: undefined };
        queues.set(chipid, queue);
        observer?.(chipid, 0, 1);
      } else {
        if (counted && queue.waiting.counted >= MAX_WAITING) throw full(chipid);
        await wait(chipid, queue, options);
      }
      try {
        progress?.(CALLING);
        return await command();
      } finally {
        ended(chipid, queue);
      }
    },
    load(chipid) {
      const queue = queues.get(chipid);
      return { waiting: queue?.waiting.length ?? 0, running: queue?.running ?? 0 };
    },
    get size() {
      return queues.size;
    },
    close() {
      for (const queue of queues.values()) {
        clearTimeout(queue.timer);
        for (const waiting of queue.waiting.clear()) waiting.refuse('the client was closed');
      }
      queues.clear();
    },
  };
}
