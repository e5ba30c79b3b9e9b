import { DeviceCloudError } from '../errors';
import { abortReason, onAbort } from '../http/deadline';
import { DeviceQueue, Place } from './device-queue';
import { CALLING, type Progress } from './progress';

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
  /** Own code, which never throws: is called before the next command starts if this one has failed, or never began. */
  failed?: (error: unknown, hasBegun: boolean) => void;
  /** The place that was reserved for the command, which has its turn. Without one, it goes to the end of the queue. */
  place?: Place | undefined;
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
  /**
   * Reserves the last place in the queue of a device, for a command that is run later. The commands behind it wait
   * until that has ended, or until the place is left.
   * @param onTurn own code: is called when a place that had to wait has its turn, or is refused
   * @throws DeviceCloudError `QUEUE_FULL`; `UNREACHABLE` if the signal has aborted
   */
  reserve(chipid: string, options: QueueOptions, onTurn: () => void): Place;
  /** Gives up a place, unless it was used. */
  leave(place: Place): void;
  /** Whether a place was reserved here. */
  has(place: Place): boolean;
  /** How many commands of a device wait, and how many run: 0 or 1. */
  load(chipid: string): { waiting: number; running: number };
  /** Devices with a command that runs or waits, or with a gap to keep. */
  readonly size: number;
  /** Removes every waiting command and clears the timers. The caller ends the running ones. */
  close(): void;
}

const NO_OPTIONS: QueueOptions = {};
const CLOSED = 'the client was closed';

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
    // What was called meanwhile may have ended this queue and begun another.
    if ((queues.get(chipid) ?? queue) !== queue) return;
    observer?.(chipid, queue.waiting, queue.running);
    queue.showPlaces();
  };

  const startNext = (chipid: string, queue: DeviceQueue): void => {
    queue.timer = undefined;
    const next = queue.shift();
    queue.running = next ? 1 : 0;
    if (next) next.start();
    else queues.delete(chipid);
    changed(chipid, queue);
  };

  const reserve = (
    chipid: string,
    { signal, progress, counted = true }: QueueOptions,
    onTurn?: () => void,
  ): Place => {
    if (signal?.aborted) throw notSent(chipid, explain(signal));
    const busy = queues.get(chipid);
    if (busy && counted && busy.counted >= MAX_WAITING) throw full(chipid);
    const queue = busy ?? new DeviceQueue(queues);
    const place = new Place(chipid, queue, progress, counted, onTurn);
    if (busy) {
      if (signal) {
        place.ignoreSignal = onAbort(signal, () => {
          queue.remove(place);
          place.refuse(notSent(chipid, explain(signal)));
          changed(chipid, queue);
        });
      }
      queue.add(place);
      changed(chipid, queue);
    } else {
      place.hasTurn = true;
      queues.set(chipid, queue);
      observer?.(chipid, 0, 1);
    }
    return place;
  };

  /** @param hasBegun whether a command was run: only then is there a gap before the next one */
  const release = (place: Place, hasBegun: boolean): void => {
    const { chipid, queue } = place;
    if (!place.hasTurn) {
      if (!queue.remove(place)) return;
      place.ignoreSignal?.();
      changed(chipid, queue);
    } else if (queues.get(chipid) === queue) {
      if (gap === 0 || !hasBegun) startNext(chipid, queue);
      else {
        queue.running = 0;
        queue.timer = setTimeout(startNext, gap, chipid, queue);
        changed(chipid, queue);
      }
    }
  };

  /** Waits until the commands before a place have ended. */
  const turnOf = (place: Place): Promise<void> =>
    new Promise((resolve, reject) => {
      place.onTurn = () => {
        if (place.refusal) reject(place.refusal);
        else resolve();
      };
    });

  return {
    async run(chipid, command, options = NO_OPTIONS) {
      const { signal, progress, failed } = options;
      let { place } = options;
      let hasBegun = false;
      if (place) place.isUsed = true;
      try {
        if (signal?.aborted) throw notSent(chipid, explain(signal));
        place ??= reserve(chipid, options);
        if (!place.hasTurn) await turnOf(place);
        hasBegun = true;
        progress?.(CALLING);
        return await command();
      } catch (error) {
        failed?.(error, hasBegun);
        throw error;
      } finally {
        if (place) release(place, hasBegun);
      }
    },
    reserve,
    leave(place) {
      if (place.isUsed) return;
      place.isUsed = true;
      release(place, false);
    },
    has: (place) => place.queue.owner === queues,
    load(chipid) {
      const queue = queues.get(chipid);
      return { waiting: queue?.waiting ?? 0, running: queue?.running ?? 0 };
    },
    get size() {
      return queues.size;
    },
    close() {
      const all = [...queues];
      // Cleared first, since refusing a place may add commands.
      queues.clear();
      for (const [chipid, queue] of all) {
        clearTimeout(queue.timer);
        for (const place of queue.clear()) place.refuse(notSent(chipid, CLOSED));
      }
    },
  };
}
