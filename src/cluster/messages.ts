import type { ChannelState } from '../channel/listener';

/** How long a request for a device's uploads lasts, and how often it is repeated, in ms. */
export const WANTED = { lasts: 15_000, again: 5000 };

/** The most devices in one message. */
export const MOST_DEVICES = 1000;

const DIGITS = /^\d{1,20}$/;
const MAX_REASON = 200;

export const isChipid = (value: unknown): value is string =>
  typeof value === 'string' && DIGITS.test(value);

/** A device whose uploads are requested, and whether they continue those that another owner has passed on. */
export type Wanted = readonly [chipid: string, again: boolean];

/** Reads requested devices. Anything malformed is left out. */
export function readWanted(value: unknown): Wanted[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST_DEVICES).flatMap((each: unknown) => {
    const [chipid, again] = Array.isArray(each) ? (each as unknown[]) : [];
    return isChipid(chipid) ? [[chipid, again === true] as const] : [];
  });
}

/** The state of a device's channel at its owner. */
export interface OwnerState {
  readonly chipid: string;
  readonly state: ChannelState;
  readonly reason: string | undefined;
  /** Whether everything up to now has been passed on. */
  readonly isComplete: boolean;
  /** The epoch of the owner: messages of an older one are outdated. */
  readonly epoch: number;
}

const STATES: readonly unknown[] = ['connecting', 'connected', 'disconnected'];

/** Reads states. Anything malformed is left out. */
export function readStates(value: unknown): OwnerState[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST_DEVICES).flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null) return [];
    const { chipid, state, reason, isComplete, epoch } = each as Record<string, unknown>;
    if (!isChipid(chipid) || !STATES.includes(state) || !Number.isSafeInteger(epoch)) return [];
    return {
      ...{ chipid, state: state as ChannelState, epoch: epoch as number },
      reason: typeof reason === 'string' ? reason.slice(0, MAX_REASON) : undefined,
      isComplete: isComplete === true,
    };
  });
}
