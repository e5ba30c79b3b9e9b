import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeviceCloudError, isDeviceCloudError, withoutCode, type ErrorCode } from '../errors';
import type { ServiceClock } from '../http/answer';
import type { Keeping } from '../store/store';
import { deviceTitle } from '../util/show';
import { isObject } from '../util/json';
import { FEWER, notSent } from './queue';

/** Milliseconds between two looks whether a command is written by now. */
const AGAIN = 250;

/** Bytes that the waiting commands of an application may take, and what each takes in memory besides what is kept of it. */
const MAX_BYTES = 64 * 2 ** 20;
const BYTES_EACH = 3 * 2 ** 10;

/** This process: within it, its own clock says how much time has passed. */
const PROCESS = randomBytes(8).toString('hex');

/** Until when a command waits: what is left of its time, and when that was measured. */
interface TimeLeft {
  readonly left: number;
  /** By the service's clock, in ms since 1970; null while it is unknown. */
  readonly at: number | null;
  /** By the monotonic clock of a process. */
  readonly process: string;
  readonly ran: number;
}

/** What a call has ended with, as another process can be sent it. */
export type Result =
  | { readonly value: unknown }
  | { readonly error: Pick<DeviceCloudError, 'code' | 'message' | 'statusCode' | 'uncertain'> };

/** The error of a result, as JSON can hold it. */
export function plainError(error: unknown): Extract<Result, { error: unknown }>['error'] {
  if (!isDeviceCloudError(error)) {
    const code: ErrorCode = 'INVALID_RESPONSE';
    return { code, message: `${code}: ${(error as Error).message}`, uncertain: true };
  }
  const { code, message, statusCode, uncertain } = error;
  return { code, message, uncertain, ...(statusCode === undefined ? {} : { statusCode }) };
}

/** @throws DeviceCloudError the error of a result that is one */
export function valueOfResult(result: Result): unknown {
  if ('value' in result) return result.value;
  throw errorOfEnd(result) as DeviceCloudError;
}

/** The error that a command has ended with; undefined if it has succeeded, or waits. */
export function errorOfEnd(end: Result | undefined): DeviceCloudError | undefined {
  if (!end || 'value' in end) return undefined;
  const { error } = end;
  return new DeviceCloudError(error.code, withoutCode(error), error.statusCode, error.uncertain);
}

/** In a cluster, the message that a command came with. */
export interface Sender {
  /** The process that has it. */
  readonly member: string;
  /** What it knows the command by. */
  readonly id: string;
}

/** A command that waits, or has waited, as the store has it. */
export interface SavedCommand extends TimeLeft {
  /** Earlier ones have lower numbers. */
  readonly order: number;
  readonly node: string;
  /** What the caller needs to make it again. */
  readonly what: unknown;
  readonly isBegun?: boolean;
  /** How it has ended, until that was passed on. */
  readonly end?: Result | undefined;
  readonly sender?: Sender | undefined;
}

/** Measures what is left of a command's time. */
export const timeLeft = (left: number, clock: ServiceClock): TimeLeft => ({
  left,
  at: clock.time() ?? null,
  process: PROCESS,
  ran: performance.now(),
});

/**
 * What is left of a command's time by now, in ms. Not by this machine's clock, which may be wrong.
 * @returns undefined while the service's time is unknown
 */
export function leftOf(
  { left, at, process, ran }: TimeLeft,
  clock: ServiceClock,
): number | undefined {
  if (process === PROCESS) return left - (performance.now() - ran);
  // Late is worse than never.
  if (at === null) return 0;
  const now = clock.time();
  return now === undefined ? undefined : Math.min(left, left - (now - at));
}

/** Whether an earlier process has left a command without knowing the service's time: nothing tells how old it is. */
export const isOfUnknownAge = ({ at, process }: TimeLeft): boolean =>
  at === null && process !== PROCESS;

const isResult = (end: unknown): boolean => {
  const { error } = isObject(end) ? end : {};
  return isObject(error) ? typeof error['message'] === 'string' : isObject(end) && 'value' in end;
};

/** Reads what the store has, which may have been edited. @returns undefined if it is malformed */
export function readSaved(value: unknown): SavedCommand | undefined {
  if (!isObject(value)) return undefined;
  const { order, left, at, node, end } = value;
  const isTimed = [order, left, at === null ? 0 : at].every(Number.isFinite);
  if (!isTimed || typeof node !== 'string') return undefined;
  const saved = value as unknown as SavedCommand;
  // One that has ended, nobody can read how, may have acted.
  return end === undefined || isResult(end) ? saved : { ...saved, isBegun: true, end: undefined };
}

/** A call whose commands may wait, as the store has it: one entry for each device. */
export class SavedCall {
  /** Whether its caller has let go of it, and another one may take what waits. */
  isDetached = false;
  /** Whether another process goes on with commands of it. */
  isHandedOver = false;
  /** Is called once a command of it is written down. */
  onSaved: (() => void) | undefined;
  readonly #calls: SavedCalls;
  readonly #endings = new Map<string, Promise<boolean>>();
  /** A command of another process that has ended here: known also if the device is another process's by now. */
  #adopted: SavedCommand | undefined;

  constructor(
    calls: SavedCalls,
    readonly id: string,
    readonly chipids: readonly string[],
    readonly node: string,
    readonly whatOf: (chipid: string) => unknown,
    readonly order: number,
    readonly sender?: Sender,
  ) {
    this.#calls = calls;
  }

  /** Whether it survives a restart, as far as is known. */
  get isKept(): boolean {
    return this.#store.problem === undefined;
  }

  /** What the store has of a command; undefined if it has not had to wait. */
  of(chipid: string): SavedCommand | undefined {
    return readSaved(this.#store.get(this.#keyOf(chipid))) ?? this.#adopted;
  }

  /**
   * A command has to wait. Resolves once it is written, or could not be.
   * @throws DeviceCloudError `QUEUE_FULL` if all commands together are too large
   */
  async save(chipid: string, time: TimeLeft): Promise<void> {
    const { node, order, sender } = this;
    const key = this.#keyOf(chipid);
    const what = this.of(chipid)?.what ?? this.whatOf(chipid);
    this.#calls.hold(key, what);
    const entry = { ...time, node, order, what, ...(sender && { sender }) };
    let isWritten = await this.#store.set(key, entry);
    // What processes share has to be where all find it before it counts as waiting.
    while (!isWritten && sender && !this.isDetached && this.#waits(chipid)) {
      await sleep(AGAIN);
      isWritten = this.#store.isWritten(key);
    }
    if (isWritten) this.onSaved?.();
  }

  /** A command is about to be sent. @throws DeviceCloudError `UNREACHABLE` if it must not be */
  async begin(chipid: string): Promise<void> {
    const key = this.#keyOf(chipid);
    const saved = this.of(chipid);
    // It may have waited for its turn meanwhile: for that of a call to many, or for the end of what a dead process had begun.
    if (this.isDetached || saved?.isBegun || saved?.end)
      throw notSent(deviceTitle(chipid), 'another caller goes on with it');
    if (!saved || (await this.#store.set(key, { ...saved, isBegun: true }))) return;
    if (this.of(chipid) === undefined)
      throw notSent(deviceTitle(chipid), 'another process has it, or its file was removed');
    // Removing needs no room on the disk. Without its file, the next process does not send it either.
    if (!this.sender && (await this.#store.set(key, undefined))) return;
    throw notSent(deviceTitle(chipid), `that it begins could not be written down`);
  }

  /** A command that was sent at once has ended, and its message is gone: another caller is to have what became of it. */
  async adopt(chipid: string, end: Result): Promise<void> {
    const { node, order } = this;
    const time = { left: 0, at: null, process: PROCESS, ran: performance.now() };
    this.#adopted = { ...time, node, order, what: this.whatOf(chipid), isBegun: true, end };
    await this.#store.set(this.#keyOf(chipid), this.#adopted);
  }

  /** A command has failed before it began. Resolves when the next process knows it, or it is known to go on. */
  async notSent(chipid: string, error: unknown): Promise<void> {
    if (this.isDetached || !isDeviceCloudError(error)) return;
    await this.end(chipid, { error: plainError(error) });
  }

  /** A command has ended: what became of it is kept until it was passed on. @returns whether that is written */
  async end(chipid: string, end: Result): Promise<boolean> {
    const saved = this.of(chipid);
    if (!saved) return true;
    const ending =
      this.#endings.get(chipid) ?? this.#store.set(this.#keyOf(chipid), { ...saved, end });
    this.#endings.set(chipid, ending);
    const isWritten = await ending;
    if (!isWritten) this.#endings.delete(chipid);
    return isWritten;
  }

  /** Lets go of it, if a command of it waits and survives: another caller may take it. */
  detach(): void {
    // It may have 10,000 commands, for each of which this is called.
    if (this.isDetached) return;
    const goesOn = this.isHandedOver || this.chipids.some((chipid) => this.#waits(chipid));
    if (this.isKept && goesOn) this.letGo();
  }

  /** Leaves what it has as it is. */
  letGo(): void {
    this.isDetached = true;
    for (const chipid of this.chipids) this.#calls.release(this.#keyOf(chipid));
  }

  /** It has ended, and everything of it was passed on. */
  close(): void {
    for (const chipid of this.chipids) {
      const key = this.#keyOf(chipid);
      this.#calls.release(key);
      if (this.#store.get(key) !== undefined) void this.#store.set(key, undefined);
    }
  }

  #waits(chipid: string): boolean {
    const saved = this.of(chipid);
    return saved !== undefined && !saved.isBegun && !saved.end;
  }

  get #store(): Keeping {
    return this.#calls.store;
  }

  #keyOf(chipid: string): string {
    return `command:${chipid}:${this.id}`;
  }
}

/** The calls of an application whose commands wait, over clients, deploys and restarts. */
export class SavedCalls {
  /** The keys of those whose callers wait for them, and their bytes. */
  readonly #held = new Map<string, number>();
  #bytes = 0;
  readonly #prefix = randomBytes(6).toString('hex');
  #count = 0;
  #order = 0;
  #hasMoved = false;

  constructor(readonly store: Keeping) {}

  /** Commands have come from another process. */
  moved(): void {
    this.#hasMoved = true;
  }

  /** A call has arrived. It is kept once one of its commands waits. */
  add(
    node: string,
    chipids: readonly string[],
    whatOf: (chipid: string) => unknown,
    sender?: Sender,
  ): SavedCall {
    // They are given back to their callers a moment later. A new one comes after them.
    if (this.#hasMoved) this.#find();
    const id = `${this.#prefix}${(++this.#count).toString(36)}`;
    return new SavedCall(this, id, chipids, node, whatOf, ++this.#order, sender);
  }

  /** Takes what nobody waits for, in the order of arrival: each command is a call of its own. */
  take(): SavedCall[] {
    const found = this.#find().flatMap(([key, saved]) => {
      const [, chipid = '', id = ''] = key.split(':');
      if (this.#held.has(key) || !/^\d{1,20}$/.test(chipid)) return [];
      // Taken once, whatever it takes.
      this.#held.set(key, 0);
      const { node, what, order, sender } = saved;
      return [new SavedCall(this, id, [chipid], node, () => what, order, senderOf(sender))];
    });
    return found.sort((a, b) => a.order - b.order);
  }

  /** All commands that the store has. Later ones come after them. */
  #find(): [key: string, saved: SavedCommand][] {
    this.#hasMoved = false;
    const found = this.store
      .list('command:')
      .map(([key, value]) => [key, readSaved(value)] as const)
      .filter((each): each is [string, SavedCommand] => each[1] !== undefined);
    for (const [, { order }] of found) this.#order = Math.max(this.#order, order);
    return found;
  }

  /** Somebody waits for a command. @throws DeviceCloudError `QUEUE_FULL` */
  hold(key: string, what: unknown): void {
    this.release(key);
    const bytes = BYTES_EACH + JSON.stringify(what).length;
    if (this.#bytes + bytes > MAX_BYTES)
      throw new DeviceCloudError(
        'QUEUE_FULL',
        `Waiting commands take ${MAX_BYTES / 2 ** 20} MiB already. ${FEWER}`,
      );
    this.#held.set(key, bytes);
    this.#bytes += bytes;
  }

  release(key: string): void {
    this.#bytes -= this.#held.get(key) ?? 0;
    this.#held.delete(key);
  }
}

/** Reads who has the message of a command. */
function senderOf(value: unknown): Sender | undefined {
  const { member, id } = isObject(value) ? value : {};
  return typeof member === 'string' && typeof id === 'string' ? { member, id } : undefined;
}

/** What a command has ended with, or is to, since it had begun when the process ended; undefined if it still waits. */
export function endOf({ isBegun, end }: SavedCommand, device: string): Result | undefined {
  if (end || !isBegun) return end;
  const text = `Node-RED ended while the command to ${device} was under way. Whether it acted is unknown: it is not sent again.`;
  return { error: plainError(new DeviceCloudError('TIMEOUT', text)) };
}
