import type { ChannelSubscription } from '../channel/listener';
import type { Timed } from '../channel/timer-queue';
import { DeviceCloudError, ERRORS, invalidInput } from '../errors';
import { parseChipids } from '../protocol/values';
import type { CommandWhat, When } from '../types';
import { isObject } from '../util/json';
import type { Semaphore } from '../util/semaphore';
import { show } from '../util/show';
import { Command, type Caller } from './queue';
import type { SavedCall, SavedCommand } from './saved-call';

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

/** A device for which commands wait. */
export class Device {
  /** All that have not begun, in the order of arrival; some may be in its queue. */
  readonly all: WaitingCommand[] = [];
  subscription: ChannelSubscription | undefined;

  constructor(readonly chipid: string) {}
}

/** What carries commands out that wait. */
interface CommandOwner {
  /** The time of a command for finding its device in the list has passed, or it has expired. */
  onDue(command: WaitingCommand): void;
  readonly onFailure: (command: Command, error: unknown) => void;
}

/** A command that waits for its device, and then in the device's queue. A class with plain fields, since there may be thousands. */
export class WaitingCommand<T = unknown> extends Command<T> implements Timed {
  due = 0;
  override readonly isCounted = false;
  /** Of one that is saved: whether it may have been sent. */
  mayHaveActed = false;
  /** Whether it is written down, or nothing keeps it: until then it does not count as waiting. */
  isSaved: boolean;
  /** Whether the one that takes its place is being written: it is not released meanwhile. */
  isReplaced = false;
  /** Until when it waits, on the clock of the timers; undefined while that is unknown: then it is not sent. */
  expiresAt: number | undefined;
  /** The same by the clock of the service; undefined while its time is unknown. */
  serviceUntil: number | undefined;
  /** The same by the clock of this machine, for people. */
  until = 0;
  /** As an earlier process has left it. */
  readonly found: SavedCommand | undefined;
  override saved: SavedCall | undefined;
  device!: Device;

  constructor(
    readonly id: string,
    chipid: string,
    work: () => Promise<T>,
    readonly limits: CommandLimits,
    readonly owner: CommandOwner,
  ) {
    super(chipid, work, limits, owner.onFailure);
    this.saved = limits.origin?.saved;
    this.found = this.saved?.of(chipid);
    this.isSaved = !this.saved || this.found !== undefined;
  }

  /** Whether it waits for its device, and not in the queue. */
  get isWaiting(): boolean {
    return !this.isSettled && this.queue === undefined;
  }

  /** Whether it takes the place of another one: of the same kind and, if it is about a pin, about the same pin. */
  replaces({ limits }: WaitingCommand): boolean {
    if (!this.limits.replace) return false;
    const own = this.limits.what;
    const other = limits.what;
    return own.kind === other.kind && own.pin === other.pin;
  }

  onDue(): void {
    this.owner.onDue(this);
  }
}

/** What a command is, for people. */
export const infoOf = ({ id, chipid, limits, until }: WaitingCommand): WaitingInfo => ({
  id,
  chipid,
  ...limits.what,
  when: limits.when as WaitingInfo['when'],
  since: until - limits.expires,
  until,
  ...(limits.origin?.node !== undefined && { node: limits.origin.node }),
});

/** Adds a command in the order of arrival: one that comes back is before those that came after it. */
export function insert(all: WaitingCommand[], command: WaitingCommand): void {
  const { saved } = command;
  const isBefore = (other: WaitingCommand): boolean =>
    !saved || (other.saved?.order ?? 0) <= saved.order;
  all.splice(all.findLastIndex(isBefore) + 1, 0, command);
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

/** The error for a command that was to wait no longer. @param why a sentence without its full stop */
export const cancelled = (device: string, why: string): DeviceCloudError =>
  new DeviceCloudError('CANCELLED', `${why}. The waiting command to ${device} was not sent.`);

/** The error for a command that an earlier process has left, and nothing tells how long ago. */
export const tooOld = (device: string): DeviceCloudError =>
  new DeviceCloudError(
    'EXPIRED',
    `Node-RED ended before the service told its time: how long the command to ${device} has waited is unknown. It was not sent. Send it again if it is still wanted.`,
  );

/** The error for a command whose device did not show itself. */
export const expired = (device: string, ms: number): DeviceCloudError =>
  new DeviceCloudError(
    'EXPIRED',
    `Waited ${ms / 1000} s for the device. The command to ${device} was not sent. ${ERRORS.EXPIRED.advice}`,
  );
