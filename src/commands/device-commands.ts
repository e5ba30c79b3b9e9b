import { TimerQueue } from '../channel/timer-queue';
import { isSilence } from '../errors';
import type { Place } from './device-queue';
import type { CommandCaller, DeviceQueues } from './device-queues';
import type { When } from '../types';
import { HeldCommands, type HeldCommandsDeps } from './held-commands';
import type { FleetRegistry } from '../fleet/registry';

/** When a command is sent. */
export interface CommandWait {
  readonly when: When;
  /** Seconds that it waits for its device; `now` does not wait. */
  readonly expires: number;
}

/** Own code, which never throws: is called with the error of each command that failed. */
export type OnCommandError = (chipid: string, error: unknown) => void;

/** Runs all commands to devices of the open API: at once, or when the device shows itself. */
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
   * @param place in the queue that was reserved for it, of a command that is to be sent now
   * @throws DeviceCloudError `QUEUE_FULL`, `EXPIRED` or `UNREACHABLE` if the call never began; what the
   * call fails with
   */
  run<T>(
    chipid: string,
    command: () => Promise<T>,
    { signal, progress }: CommandCaller,
    { when, expires }: CommandWait,
    place?: Place,
  ): Promise<T> {
    if (when === 'now') {
      const failed = (error: unknown, hasBegun: boolean): void => {
        if (hasBegun) this.#unanswered(chipid, error, signal);
        this.#report(chipid, error, signal);
      };
      return this.#queues.run(chipid, command, { signal, progress, place, failed });
    }
    const call = (): Promise<T> =>
      command().catch((error: unknown) => {
        this.#unanswered(chipid, error, signal);
        throw error;
      });
    const outcome = this.#held.run(chipid, call, { when, expires, signal, progress });
    outcome.catch((error: unknown) => this.#report(chipid, error, signal));
    return outcome;
  }

  /**
   * Reserves a place in the queue of a device: see {@link DeviceQueues}.
   * @throws DeviceCloudError `QUEUE_FULL`; `UNREACHABLE` if the signal has aborted
   */
  reserve(chipid: string, caller: CommandCaller, onTurn: () => void): Place {
    try {
      return this.#queues.reserve(chipid, caller, onTurn);
    } catch (error) {
      this.#report(chipid, error, caller.signal);
      throw error;
    }
  }

  /** Gives up a place, unless it was used. */
  leave(place: Place): void {
    this.#queues.leave(place);
  }

  /** A command that went through the queue without this class, the push of a request, has failed. */
  failed(chipid: string, error: unknown): void {
    if (isSilence(error)) this.#held.lost(chipid);
    this.#onError?.(chipid, error);
  }

  /** The number of commands that wait for a device and are not in its queue. */
  waiting(chipid: string): number {
    return this.#held.waiting(chipid);
  }

  /** Ends the commands that wait. Those in the queues are ended with the queues. */
  close(): void {
    this.#held.close();
  }

  /** Calls `lost` if a call got no answer: before the queue starts its next command. */
  #unanswered(chipid: string, error: unknown, signal: AbortSignal | undefined): void {
    if (!signal?.aborted && isSilence(error)) this.#held.lost(chipid);
  }

  /** A command that its caller aborted says nothing about the device. */
  #report(chipid: string, error: unknown, signal: AbortSignal | undefined): void {
    if (!signal?.aborted) this.#onError?.(chipid, error);
  }
}

/**
 * Makes the commands of an application.
 * @param registry is called with the number of waiting commands and the errors of each device
 */
export function createDeviceCommands(
  queues: DeviceQueues,
  registry: FleetRegistry,
  deps: Pick<HeldCommandsDeps, 'channels' | 'list' | 'now' | 'explain'>,
): DeviceCommands {
  const onChange = (chipid: string): void => {
    const { waiting, running } = queues.load(chipid);
    registry.onQueue(chipid, waiting + held.waiting(chipid), running);
  };
  const held = new HeldCommands({ ...deps, queues, timers: new TimerQueue(), onChange });
  return new DeviceCommands(queues, held, (chipid, error) => registry.onError(chipid, error));
}
