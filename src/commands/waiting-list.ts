import type { CommandWhat, When } from '../types';
import { invalidInput } from '../errors';
import { parseChipids } from '../input/values';
import { isObject } from '../util/json';
import type { Semaphore } from '../util/semaphore';
import { show } from '../util/show';
import type { Caller } from './queue';
import type { SavedCall } from './saved-call';

/** What a command keeps to: when it is sent, and who it is for. */
export interface CommandLimits extends Caller {
  readonly when: When;
  /** Milliseconds that it waits for its device; `now` does not wait. */
  readonly expires: number;
  /** Whether it takes the place of one like it. */
  readonly replace: boolean;
  readonly what: CommandWhat;
  readonly origin: Origin | undefined;
}

/** Whose a command is. */
export interface Origin {
  readonly node?: string;
  /** The call that it belongs to, if that survives the process. */
  readonly saved?: SavedCall;
}

export const ORIGIN = Symbol('origin');
export const SEMAPHORE = Symbol('semaphore');

/** Options of a call that this package alone gives, copied along with the others. */
export interface OwnOptions {
  /** Whose it is. */
  readonly [ORIGIN]?: Origin;
  /** What the call has to pass in its turn, if it is one of several: the calls of `callEach` share it. */
  readonly [SEMAPHORE]?: Semaphore | undefined;
}

/** Adds to the options of a call whose it is. */
export const withOrigin = <O extends object>(options: O, origin: Origin): O => ({
  ...options,
  [ORIGIN]: origin,
});

/** A command that waits for its device, without what it sends. */
export interface WaitingInfo extends CommandWhat {
  id: string;
  chipid: string;
  when: 'online' | 'upload';
  /** Since and until when it waits, in ms by this machine's clock. */
  since: number;
  until: number;
  /** Id of the node that it came from. */
  node?: string;
}

/** Which waiting commands to cancel. */
export type WaitingSelection =
  | { ids: readonly string[] }
  | { chipids: readonly (string | number)[] }
  | { all: true };

/** @returns whether a command is chosen. @throws DeviceCloudError `INVALID_INPUT` */
export function readSelection(
  which: unknown,
): (command: Pick<WaitingInfo, 'id' | 'chipid'>) => boolean {
  const { ids, chipids, all } = isObject(which) ? which : {};
  if ([ids, chipids, all].filter((each) => each !== undefined).length === 1) {
    if (all === true) return () => true;
    if (chipids !== undefined) {
      const devices = new Set(parseChipids(chipids));
      return ({ chipid }) => devices.has(chipid);
    }
    if (Array.isArray(ids) && ids.every((id) => typeof id === 'string')) {
      const chosen = new Set<string>(ids);
      return ({ id }) => chosen.has(id);
    }
  }
  const given = isObject(which) ? Object.keys(which).slice(0, 5).join(' and ') : show(which);
  throw invalidInput(
    'Say which waiting commands to cancel by one of ids (an array of texts), chipids (an array of chip numbers) and ' +
      `all (true), but not by ${show(given)}. Nothing was cancelled.`,
  );
}
