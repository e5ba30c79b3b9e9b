import { DeviceCloudError } from '../errors';
import { abortReason, onAbort } from './deadline';

/** Commands that may wait for one device; one more is `QUEUE_FULL`. */
export const MAX_WAITING = 100;

/** One command at a time per device, in the order of arrival; devices do not wait for each other. */
export interface DeviceOrder {
  /**
   * Runs a command when all earlier ones of its device have ended.
   * @param chipid the device
   * @param command starts the call; its promise's end lets the next one go
   * @param signal takes a command that still waits out of the queue
   * @throws DeviceCloudError `QUEUE_FULL` if 100 wait already, `UNREACHABLE` if it was taken out
   */
  run<T>(chipid: string, command: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** How many devices have a command running, waiting or a gap to keep. */
  readonly size: number;
  /** Takes out every waiting command and drops the timers. Running ones are the caller's to end. */
  close(): void;
}

interface Waiting {
  start: () => void;
  refuse: (why: string) => void;
}

interface Line {
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
export function createDeviceOrder(gap: number, explain = abortReason): DeviceOrder {
  const lines = new Map<string, Line>();

  const startNext = (chipid: string, line: Line): void => {
    line.timer = undefined;
    const next = line.waiting.shift();
    if (next) next.start();
    else lines.delete(chipid);
  };

  const ended = (chipid: string, line: Line): void => {
    if (lines.get(chipid) !== line) return;
    if (gap > 0) line.timer = setTimeout(startNext, gap, chipid, line);
    else startNext(chipid, line);
  };

  const wait = (chipid: string, line: Line, signal: AbortSignal | undefined): Promise<void> =>
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
          line.waiting.splice(line.waiting.indexOf(entry), 1);
          entry.refuse(explain(signal));
        });
      line.waiting.push(entry);
    });

  return {
    async run(chipid, command, signal) {
      if (signal?.aborted) throw notSent(chipid, explain(signal));
      let line = lines.get(chipid);
      if (!line) {
        line = { waiting: [], timer: undefined };
        lines.set(chipid, line);
      } else {
        if (line.waiting.length >= MAX_WAITING) throw full(chipid);
        await wait(chipid, line, signal);
      }
      try {
        return await command();
      } finally {
        ended(chipid, line);
      }
    },
    get size() {
      return lines.size;
    },
    close() {
      for (const line of lines.values()) {
        clearTimeout(line.timer);
        for (const waiting of line.waiting.splice(0)) waiting.refuse('the client was closed');
      }
      lines.clear();
    },
  };
}
