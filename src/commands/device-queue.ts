import type { DeviceCloudError } from '../errors';
import type { Progress } from './progress';

/** A place in the queue of a device, kept for one command. A class with plain fields, since there may be thousands. */
export class Place {
  /** Whether the commands before it have ended. */
  hasTurn = false;
  /** Why its command never starts. */
  refusal: DeviceCloudError | undefined;
  /** Whether a command has used it, or it was given up. */
  isUsed = false;
  /** The number of commands before it, as last shown. */
  ahead = -1;
  /** Removes the listener of its signal. */
  ignoreSignal: (() => void) | undefined;

  constructor(
    readonly chipid: string,
    readonly queue: DeviceQueue,
    /** Is called with how many commands are before it, whenever that changes. */
    readonly progress: Progress | undefined,
    /** Whether it counts towards the limit of the queue. */
    readonly counted: boolean,
    /** Own code: is called when a place that had to wait has its turn, or is refused. */
    public onTurn: (() => void) | undefined,
  ) {}

  /** The commands before it have ended. */
  start(): void {
    this.hasTurn = true;
    this.#endWait();
  }

  /** Its command is never to start. It has been removed from the queue. */
  refuse(error: DeviceCloudError): void {
    this.refusal = error;
    this.#endWait();
  }

  #endWait(): void {
    const { onTurn } = this;
    this.onTurn = undefined;
    this.ignoreSignal?.();
    onTurn?.();
  }
}

/** The queue of a device: whether a command runs, and the places that wait, in order. */
export class DeviceQueue {
  running: 0 | 1 = 1;
  /** Ends the gap between two commands. */
  timer: NodeJS.Timeout | undefined;
  #waiting: Place[] = [];
  #counted = 0;
  /** The number of places whose callers are shown how many commands are before them. */
  #watched = 0;

  /** @param owner the queues of which it is one */
  constructor(readonly owner: object) {}

  /** The number of places that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** The number of those that count towards the limit of the queue. */
  get counted(): number {
    return this.#counted;
  }

  add(place: Place): void {
    this.#waiting.push(place);
    if (place.counted) this.#counted++;
    if (place.progress) this.#watched++;
  }

  /** Removes a place. @returns whether it waited */
  remove(place: Place): boolean {
    return this.#removeAt(this.#waiting.indexOf(place)) !== undefined;
  }

  /** Removes the first place. */
  shift(): Place | undefined {
    return this.#removeAt(0);
  }

  /** Removes all places. */
  clear(): Place[] {
    const all = this.#waiting;
    this.#waiting = [];
    this.#counted = this.#watched = 0;
    return all;
  }

  /** Shows each caller how many commands are before its own, if that has changed. A caller may add and remove places. */
  showPlaces(): void {
    if (this.#watched === 0) return;
    for (const place of [...this.#waiting]) {
      const index = place.progress ? this.#waiting.indexOf(place) : -1;
      const ahead = index + this.running;
      if (index < 0 || ahead === place.ahead) continue;
      place.ahead = ahead;
      place.progress?.({ state: 'waiting', ahead });
    }
  }

  #removeAt(index: number): Place | undefined {
    if (index < 0) return undefined;
    const [place] = this.#waiting.splice(index, 1);
    if (place?.counted) this.#counted--;
    if (place?.progress) this.#watched--;
    return place;
  }
}
