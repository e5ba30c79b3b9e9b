import { setTimeout as sleep } from 'node:timers/promises';
import { AWAITING_DEVICE } from '../commands/queue';
import {
  endOf,
  plainError,
  valueOfResult,
  type Result,
  type SavedCall,
  type SavedCalls,
  type Sender,
} from '../commands/saved-call';
import { withOrigin, type CommandLimits } from '../commands/waiting-list';
import { DeviceCloudError, invalidInput } from '../errors';
import { onAbort } from '../http/deadline';
import { encode } from '../util/json';
import { deviceTitle } from '../util/show';
import { MAX_CALL, NotSent, notSent, type Calls } from './calls';

/*
 * A command that waits for its device. It is carried out where the device is, as one that was found after a restart; its message
 * stays where it came.
 *
 *   message ── wait ──► owner: written down ──► the device shows itself ──► sent ── ended ──► message
 *                            │                                                │
 *                            └── the owner is gone: the next one goes on      └── its process is gone: the owner's node gets it
 */

/** Milliseconds: for how long handing over is retried, how long a result is awaited after the command's end, and between two reports. */
const PATIENCE = 12_000;
const FORGOTTEN = 60_000;
const AGAIN = 500;

/** The longest that a timer can run, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** A call that was kept with a command, as its node has kept it. */
export interface KeptClientCall {
  readonly name: string;
  /** What comes after the device, without the options. */
  readonly args: readonly unknown[];
  readonly options: object;
}

/** The commands that wait. */
export interface SharedWaiting {
  readonly calls: SavedCalls;
  /** Reads what a node has kept of a call. */
  callOf(what: unknown): KeptClientCall;
  /** A command has ended whose message is gone: the store has what became of it. */
  onOrphan(saved: SavedCall): void;
}

/** What is kept of the message of a command, which may outlive its process. */
export interface KeptMessage {
  readonly node: string;
  readonly what: unknown;
}

/** What a command that waits is handed over with. */
export interface HandedOver extends KeptMessage {
  readonly sender: Sender;
}

interface HandOverDeps {
  readonly calls: Pick<Calls, 'call' | 'ask'>;
  readonly member: string;
  readonly members: () => readonly string[];
  /** Makes a call to a device of this process. */
  readonly make: (name: string, args: readonly unknown[]) => Promise<unknown>;
  /** Gives commands back: others go on with them. */
  readonly letGo: (isOf: (saved: SavedCall) => boolean) => void;
}

export class HandOvers {
  readonly #deps: HandOverDeps;
  readonly #waiting: SharedWaiting;
  /** The commands whose messages are here, wherever their devices are; and those that have ended: it may be said again. */
  readonly #awaited = new Map<string, (result: Result) => void>();
  /** The commands that are carried out here, until it is said what became of them. */
  readonly #here = new Set<SavedCall>();

  constructor(waiting: SharedWaiting, deps: HandOverDeps) {
    this.#waiting = waiting;
    this.#deps = deps;
  }

  /**
   * Hands a command over to the process that has its device, and waits for what becomes of it.
   * @param longest milliseconds that it may wait for its device, and take then
   * @returns what its call has returned
   * @throws DeviceCloudError `UNREACHABLE`: not handed over; `TIMEOUT`: nobody says what became of it; or the call's own
   */
  async handOver(
    device: string,
    saved: SavedCall,
    longest: number,
    { signal, progress, semaphore }: Pick<CommandLimits, 'signal' | 'progress' | 'semaphore'>,
  ): Promise<unknown> {
    const id = `${saved.id}/${device}`;
    const sender = { member: this.#deps.member, id };
    const command: HandedOver = { node: saved.node, what: saved.whatOf(device), sender };
    // Also if the device is this process's: another one may have to go on with it.
    if (encode(command).length > MAX_CALL)
      throw invalidInput(
        'A command that waits is kept with its message, and is larger with it than the 1 MiB that the processes of a cluster ' +
          'can hand over: remove properties that are not needed from the message.',
      );
    let fail!: (error: Error) => void;
    const result = new Promise<Result>((resolve, reject) => {
      this.#awaited.set(id, resolve);
      fail = reject;
    });
    // It may come before anybody waits for it.
    result.catch(() => undefined);
    const ignoreSignal = signal && onAbort(signal, () => fail(new Error('The node was closed.')));
    const end = Math.min(longest + FORGOTTEN, LONGEST_TIMER);
    const timer = setTimeout(() => fail(unheard(device)), end);
    let isHeard = false;
    try {
      const extras = { caller: { semaphore } };
      const args = [command];
      const ended = await this.#deps.calls.call('wait', device, args, longest, PATIENCE, extras);
      if (ended) return valueOfResult(ended as Result);
      saved.isHandedOver = true;
      progress?.(AWAITING_DEVICE);
      const became = await result;
      isHeard = true;
      return valueOfResult(became);
    } finally {
      clearTimeout(timer);
      ignoreSignal?.();
      if (isHeard) setTimeout(() => this.#awaited.delete(id), FORGOTTEN).unref();
      else this.#awaited.delete(id);
    }
  }

  /**
   * Takes a command.
   * @returns null once it is written down: its end is reported later; its result if it was refused
   */
  async take(chipid: string, { node, what, sender }: HandedOver): Promise<Result | null> {
    const saved = this.#waiting.calls.add(node, [chipid], () => what, sender);
    const isSaved = new Promise<null>((resolve) => (saved.onSaved = () => resolve(null)));
    const isRefused = this.#carryOut(saved, chipid, true).then(async (result) => {
      // What is not written down yet would be lost with this process.
      if (saved.of(chipid) && (await this.#isEnded(saved, chipid, result))) {
        void this.#say(saved, chipid, result);
        return null;
      }
      this.#here.delete(saved);
      return result;
    });
    const refusal = await Promise.race([isSaved, isRefused]);
    if (refusal && saved.isDetached) throw unheard(chipid);
    return refusal;
  }

  /** A command has ended whose message is here. @returns false if it is not, any more */
  ended(id: string, result: Result): boolean {
    const settle = this.#awaited.get(id);
    settle?.(result);
    return settle !== undefined;
  }

  /** A call that was sent at once has ended, and the process with its message is gone: its node here gets what became of it. */
  async adopt(chipid: string, { node, what }: KeptMessage, result: Result): Promise<void> {
    const saved = this.#waiting.calls.add(node, [chipid], () => what);
    await saved.adopt(chipid, result);
    this.#waiting.onOrphan(saved);
  }

  /** Whether the message of a command is in another process, or waits here. */
  hasSender({ sender }: SavedCall): boolean {
    if (!sender) return false;
    const { member, members } = this.#deps;
    return sender.member === member
      ? this.#awaited.has(sender.id)
      : members().includes(sender.member);
  }

  /** Devices are another process's from now on: that goes on with their commands, and says what becomes of them. */
  letGo(isOf: (chipid: string) => boolean): void {
    for (const saved of this.#here) if (saved.chipids.some(isOf)) saved.letGo();
  }

  /** Gives back what it does for a node that closes. */
  letGoOf(node: string): void {
    this.#deps.letGo((saved) => saved.sender !== undefined && saved.node === node);
  }

  /** Devices have come from another process: new commands come after those that have waited there. */
  begin(): void {
    this.#waiting.calls.moved();
  }

  /** Makes the call of a command that its node here was given back. If another process takes the device meanwhile, it reports the end. */
  async resume(chipid: string, saved: SavedCall, make: () => Promise<unknown>): Promise<unknown> {
    this.#here.add(saved);
    const result = await resultOf(make);
    await this.#isEnded(saved, chipid, result);
    this.#here.delete(saved);
    return valueOfResult(result);
  }

  /** Goes on with a command that another process has left, and says what becomes of it where its message is. */
  async goOn(saved: SavedCall): Promise<void> {
    const [chipid = ''] = saved.chipids;
    const entry = saved.of(chipid);
    if (!entry) return;
    const end = endOf(entry, deviceTitle(chipid));
    await this.#say(saved, chipid, end ?? (await this.#carryOut(saved, chipid, false)));
  }

  /** Makes the call of a command. @param isNew whether it may take the place of another one. Never rejects */
  #carryOut(saved: SavedCall, chipid: string, isNew: boolean): Promise<Result> {
    this.#here.add(saved);
    return resultOf(() => {
      const { name, args, options } = this.#waiting.callOf(saved.whatOf(chipid));
      const all = isNew ? options : { ...options, replace: false };
      const origin = { node: saved.node, saved };
      return this.#deps.make(name, [chipid, ...args, withOrigin(all, origin)]);
    });
  }

  /** Says what became of a command where its message is; if that is gone, its node here gets it. */
  async #say(saved: SavedCall, chipid: string, result: Result): Promise<void> {
    this.#here.add(saved);
    if (await this.#isEnded(saved, chipid, result))
      while (!(await this.#isSaid(saved, chipid, result))) await sleep(AGAIN);
    this.#here.delete(saved);
  }

  /**
   * Writes down how a command has ended before its end is reported: otherwise the next owner of the device might report another
   * one, or send the command again.
   * @returns false if its device is another process's by then
   */
  async #isEnded(saved: SavedCall, chipid: string, outcome: Result): Promise<boolean> {
    while (!saved.isDetached) {
      if (await saved.end(chipid, outcome)) return !saved.isDetached;
      await sleep(AGAIN);
    }
    return false;
  }

  async #isSaid(saved: SavedCall, chipid: string, outcome: Result): Promise<boolean> {
    const { sender } = saved;
    const isHeard =
      sender && this.hasSender(saved)
        ? await this.#deps.calls
            .ask(sender.member, 'ended', [sender.id, outcome])
            .catch(() => undefined)
        : false;
    if (saved.isDetached) return true;
    if (isHeard === true) saved.close();
    // What is in no store would be made again.
    if (isHeard === false && saved.of(chipid)) this.#waiting.onOrphan(saved);
    return isHeard !== undefined;
  }
}

/** Never rejects. */
async function resultOf(make: () => Promise<unknown>): Promise<Result> {
  try {
    return { value: (await make()) ?? null };
  } catch (error) {
    return { error: plainError(error instanceof NotSent ? notSent(error) : error) };
  }
}

const unheard = (chipid: string): DeviceCloudError =>
  new DeviceCloudError(
    'TIMEOUT',
    `The processes do not say what became of the waiting command to ${deviceTitle(chipid)}. Whether it acted is unknown.`,
  );
