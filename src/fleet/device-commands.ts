import { isDeviceCloudError } from '../errors';
import type { DeviceQueues } from '../http/device-queue';
import type { Progress } from '../http/progress';
import type { When } from '../types';
import type { HeldCommands } from './held-commands';

/** What a command is given. */
export interface DeviceCommandOptions {
  when: When;
  /** Seconds that it waits for its device; `now` does not wait. */
  expires: number;
  signal: AbortSignal | undefined;
  progress: Progress | undefined;
}

/** Own code, which never throws: is called with the error of each command that failed. */
export type OnCommandError = (chipid: string, error: unknown) => void;

/** Everything that reaches a device of the open API goes through here: at once, or when the device shows itself. */
export class DeviceCommands {
  readonly #queues: DeviceQueues;
  readonly #held: HeldCommands;
  readonly #onError: OnCommandError | undefined;

  constructor(queues: DeviceQueues, held: HeldCommands, onError?: OnCommandError) {
    this.#queues = queues;
    this.#held = held;
    this.#onError = onError;
  }

  /**
   * Runs a command in its device's queue: `now` at once, the others after the device has shown itself.
   * @param command starts the call; it is called at most once
   * @throws DeviceCloudError `QUEUE_FULL`, `EXPIRED` or `UNREACHABLE` if the call never began; what the
   * call fails with
   */
  async run<T>(
    chipid: string,
    command: () => Promise<T>,
    { when, expires, signal, progress }: DeviceCommandOptions,
  ): Promise<T> {
    const call = (): Promise<T> => this.#call(chipid, command, signal);
    try {
      return await (when === 'now'
        ? this.#queues.run(chipid, call, { signal, progress })
        : this.#held.run(chipid, call, { when, expires, signal, progress }));
    } catch (error) {
      // What a caller breaks off says nothing of the device.
      if (!signal?.aborted) this.#onError?.(chipid, error);
      throw error;
    }
  }

  /** Before the next command of the device begins, those that wait for the device hear that it is gone. */
  async #call<T>(
    chipid: string,
    command: () => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    try {
      return await command();
    } catch (error) {
      if (!signal?.aborted && isUnanswered(error)) this.#held.lost(chipid);
      throw error;
    }
  }
}

/** Whether a call ended without an answer of the service itself. */
const isUnanswered = (error: unknown): boolean =>
  isDeviceCloudError(error, 'TIMEOUT', 'GATEWAY', 'CONNECTION_LOST', 'UNREACHABLE');
