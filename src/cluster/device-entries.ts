import type { QueueEntry } from './store';

/** The most entries of one device, so that one that is never acknowledged does not block other devices. */
const AHEAD_OF_DEVICE = 8;

/** An entry that has not been acknowledged. */
export interface Waiting {
  readonly entry: QueueEntry;
  /** How often it was delivered. */
  times: number;
  cancel: (() => void) | undefined;
}

/** The kept entries of one device that have not been acknowledged. */
export class DeviceEntries {
  /** Oldest first; only the first is delivered. */
  readonly waiting: Waiting[] = [];
  /** The id of the last one that was added. */
  last = '';
  /** Whether later ones were read and left out. */
  isCut = false;

  /** Whether no entries are left. */
  get isOver(): boolean {
    return this.waiting.length === 0 && !this.isCut;
  }

  /** Whether further entries are left out for now. */
  get isFull(): boolean {
    return this.isCut || this.waiting.length >= AHEAD_OF_DEVICE;
  }
}

/** Whether an id of a stream is later than another. An id is milliseconds and a number, or a number alone. */
export function isLater(id: string, other: string): boolean {
  const [a, b] = [id, other].map((each) => each.split('-').map(Number)) as [number[], number[]];
  const [ms = 0, count = 0] = a;
  const [otherMs = 0, otherCount = 0] = b;
  return ms === otherMs ? count > otherCount : ms > otherMs;
}
