import type { QueueEntry } from './store';

/** Entries that one device may have: one that is never acknowledged must not hold up the others. */
const AHEAD_OF_DEVICE = 8;

/** An entry that is not acknowledged. */
export interface Waiting {
  readonly entry: QueueEntry;
  /** How often it was delivered. */
  times: number;
  cancel: (() => void) | undefined;
}

/** The entries of one device that are not acknowledged, as far as they are kept. */
export class DeviceEntries {
  /** Oldest first; only the first is delivered. */
  readonly waiting: Waiting[] = [];
  /** The last one that was taken in. */
  last = '';
  /** Whether others follow that were read and left out. */
  isCut = false;

  /** Whether nothing of it is left. */
  get isOver(): boolean {
    return this.waiting.length === 0 && !this.isCut;
  }

  /** Whether a further one is left out for now. */
  get isFull(): boolean {
    return this.isCut || this.waiting.length >= AHEAD_OF_DEVICE;
  }
}

/** Whether an id of a stream is later than another: milliseconds and a number, or a number alone. */
export function isLater(id: string, other: string): boolean {
  const [a, b] = [id, other].map((each) => each.split('-').map(Number)) as [number[], number[]];
  const [ms = 0, count = 0] = a;
  const [otherMs = 0, otherCount = 0] = b;
  return ms === otherMs ? count > otherCount : ms > otherMs;
}
