import type { Place } from './device-queue';
import type { CommandCaller } from './device-queues';
import type { QueuePlace } from '../types';

/** What the calls of a batch share. */
export interface Batch<T> {
  commands: {
    /** Reserves the last place in the queue of a device. */
    reserve(chipid: string, caller: CommandCaller, onTurn: () => void): Place;
    /** Gives up a place, unless it was used. */
    leave(place: Place): void;
  };
  chipids: readonly string[];
  caller: CommandCaller;
  /** How many calls run side by side. */
  atOnce: number;
  /** Calls a device with its place, which it uses at once or not at all. */
  call: (chipid: string, place: QueuePlace) => Promise<T>;
}

/**
 * Calls to several devices. Places in the queues of all of them are reserved first, so that the order of arrival holds. A
 * call is made once its place has its turn and fewer than `atOnce` run: until then, it takes hardly any memory.
 */
export class CallBatch<T> {
  readonly #batch: Batch<T>;
  readonly #results: PromiseSettledResult<T>[] = [];
  readonly #places: Place[] = [];
  /** Indexes of the devices whose turn has come, in that order. The first `#begun` have been called. */
  readonly #ready: number[] = [];
  #begun = 0;
  #running = 0;
  #left: number;
  #onEnd: () => void = () => undefined;

  constructor(batch: Batch<T>) {
    this.#batch = batch;
    this.#left = batch.chipids.length;
  }

  /** Whether a call runs. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** Makes all calls. @returns the result of each, in the order of the devices */
  run(): Promise<PromiseSettledResult<T>[]> {
    return new Promise((resolve) => {
      this.#onEnd = () => resolve(this.#results);
      this.#batch.chipids.forEach((chipid, index) => this.#reserve(chipid, index));
      this.#continue();
    });
  }

  #reserve(chipid: string, index: number): void {
    const { commands, caller } = this.#batch;
    let isReserved = false;
    const onTurn = (): void => {
      // What is called while it is reserved may end its wait at once.
      if (!isReserved) return;
      this.#endWait(index);
      this.#continue();
    };
    try {
      const place = commands.reserve(chipid, caller, onTurn);
      this.#places[index] = place;
      isReserved = true;
      if (place.hasTurn || place.refusal) this.#endWait(index);
    } catch (reason) {
      this.#settle(index, { status: 'rejected', reason });
    }
  }

  #endWait(index: number): void {
    const reason = this.#places[index]?.refusal;
    if (reason) this.#settle(index, { status: 'rejected', reason });
    else this.#ready.push(index);
  }

  #continue(): void {
    while (this.#running < this.#batch.atOnce && this.#begun < this.#ready.length)
      void this.#call(this.#ready[this.#begun++] as number);
    if (this.#left === 0) this.#onEnd();
  }

  async #call(index: number): Promise<void> {
    const { chipids, call, commands } = this.#batch;
    const place = this.#places[index] as Place;
    this.#running++;
    try {
      const made = call(chipids[index] as string, place);
      // One that it has not used would hold up the commands behind it, and perhaps its own.
      commands.leave(place);
      this.#settle(index, { status: 'fulfilled', value: await made });
    } catch (reason) {
      commands.leave(place);
      this.#settle(index, { status: 'rejected', reason });
    }
    this.#running--;
    this.#continue();
  }

  #settle(index: number, result: PromiseSettledResult<T>): void {
    this.#results[index] = result;
    this.#left--;
  }
}
