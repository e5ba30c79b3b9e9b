/**
 * A command acts at most once.
 *
 *     arrives ─► is written down ─► waits for its device ⇄ is in the device's queue ─► has begun ─► has ended
 *        │        (saved-call)           (waiting)               (here)        │          │
 *        └──────────────┴────────────────────┴──────────────────────┴─► is refused:       └─► without an answer:
 *                                                                  certainly not sent      it may have acted
 *
 * With `when: 'now'` it goes from its arrival to the queue. {@link Queues.run} carries it out, to its end. Its work, which sends
 * it, is called in one place, `#begin`, and once it has begun, nothing leads back: a failure is no reason to begin again, since
 * the device may have acted (`uncertain` of the error). A restart leads back to waiting what had not begun, and ends what had. The
 * next command of the device begins after its end: one at a time, in the order of arrival. Devices do not wait for each other.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DeviceCloudError, ERRORS } from '../errors';
import { abortReason, CLOSED, onAbort } from '../http/deadline';
import type { CallProgress } from '../types';
import type { Guard } from '../util/guard';
import type { Semaphore } from '../util/semaphore';
import { deviceTitle } from '../util/show';

/** Shows a caller what its call waits for. It never throws. */
export type Progress = (progress: CallProgress) => void;

export const CALLING: CallProgress = { state: 'calling' };
export const AWAITING_DEVICE: CallProgress = { state: 'awaiting-device' };

/** What to do where too many commands wait. */
export const FEWER = 'Send fewer, or let them expire sooner.';

/** The error for a command that never began. @param device as errors name it @param why completes "Not sent: " */
export const notSent = (device: string, why: string, what = 'command'): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', `Not sent: ${why}. The ${what} to ${device} never began.`);

/** The error for a command that would be one too many. @param waiting a sentence: what waits already */
export const queueFull = (
  device: string,
  waiting: string,
  advice: string = ERRORS.QUEUE_FULL.advice,
  what = 'command',
): DeviceCloudError =>
  new DeviceCloudError(
    'QUEUE_FULL',
    `${waiting}. The ${what} to ${device} was not sent. ${advice}`,
  );

/** The most commands that may wait in the queue of a device, or for it to show itself; the next one fails with `QUEUE_FULL`. */
export const MAX_WAITING = 100;

/** The caller of a command, who may abort it and is shown what it waits for. */
export interface Caller {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: Progress | undefined;
  /** Limits how many commands of a call to several devices run side by side. */
  readonly semaphore?: Semaphore | undefined;
  /** Milliseconds that its command may take once it has begun. */
  readonly longest?: number;
}

/** Own code, which never throws: is called with how many commands of a device wait in its queue and run. */
export type QueueObserver = (chipid: string, waiting: number, running: number) => void;

/** The queue of a device, which exists while a command runs, or while there is a gap to keep after it. */
class DeviceQueue {
  running: Command | undefined;
  timer: NodeJS.Timeout | undefined;
  pending: Command[] = [];
}

/** A command on its way to its device. A class with plain fields, since there may be thousands. */
export class Command<T = unknown> {
  /** Whether it has begun, or was refused: neither can happen to it again. */
  isSettled = false;
  /** In which it is pending, or has its turn. */
  queue: DeviceQueue | undefined;
  /** Whether it is one of the 100 that may wait in a queue. */
  readonly isCounted: boolean = true;
  /** The number of commands before it, as last shown. */
  ahead = -1;
  reject: ((error: unknown) => void) | undefined;
  /** What keeps it over a restart. Once it is detached, nobody waits for the outcome any more. */
  saved: { readonly isDetached: boolean } | undefined;
  ignoreSignal: (() => void) | undefined;
  /** Own code: is called when it has begun, or was refused. */
  onSettled: (() => void) | undefined;

  /** Of a command that has to wait: what it ends with. */
  resolve?(outcome: Promise<T>): void;

  /**
   * @param work sends it
   * @param onFailure own code, which never throws: is called before the next command begins if this one has failed
   */
  constructor(
    readonly chipid: string,
    readonly work: () => Promise<T>,
    readonly caller: Caller,
    readonly onFailure?: (command: Command, error: unknown) => void,
  ) {}

  /** Whether the commands before it have ended, so that those behind it wait for it. */
  get hasTurn(): boolean {
    return this.queue?.running === this;
  }

  settle(): void {
    this.isSettled = true;
    this.ignoreSignal?.();
    this.onSettled?.();
  }
}

/** Milliseconds between two looks whether a queue is empty. */
const IDLE = 20;

/** Milliseconds that a command may take whose caller does not say it. */
const LONGEST = 15_000;

/** What queues have besides their gap. */
interface QueueOptions {
  /** Why a signal aborted, without secrets. */
  explain?: (signal: AbortSignal) => string;
  observer?: QueueObserver | undefined;
  /** What errors call a device. */
  titleOf?: (chipid: string) => string;
  /** Of commands to devices that other processes command, too. */
  guard?: Guard | undefined;
}

/** The queues of the devices of an application. */
export class Queues {
  /** Own code, which never throws: is called with the device of each command that arrives, before it is queued. */
  readonly arrivals = new Set<(chipid: string) => void>();
  readonly #gap: number;
  readonly #options: QueueOptions & Required<Pick<QueueOptions, 'explain' | 'titleOf'>>;
  readonly #queues = new Map<string, DeviceQueue>();

  /** @param gap milliseconds between the end of a command and the start of the next one to the device */
  constructor(gap: number, options: QueueOptions = {}) {
    this.#gap = gap;
    this.#options = { explain: abortReason, titleOf: deviceTitle, ...options };
  }

  /** Devices with a command that runs or is pending, or with a gap to keep. */
  get size(): number {
    return this.#queues.size;
  }

  /**
   * Carries a command out when all earlier ones of its device have ended.
   * @param hold of a command that has to wait for its device: keeps it until it {@link add}s it, or refuses it
   * @throws DeviceCloudError `QUEUE_FULL` if 100 wait already, `UNREACHABLE` if it was aborted or the queues closed before it
   * began; what its work throws
   */
  async run<T>(command: Command<T>, hold?: (command: Command) => void): Promise<T> {
    const { chipid, caller } = command;
    const { signal } = caller;
    for (const arrived of this.arrivals) arrived(chipid);
    try {
      this.#checkSignal(command);
      if (!hold && !this.#queues.has(chipid)) {
        this.#occupy(command);
        return await this.#begin(command);
      }
      command.ignoreSignal =
        signal && onAbort(signal, () => this.abandon(command, this.#options.explain(signal)));
      return await new Promise<T>((resolve, reject) => {
        command.resolve = resolve;
        command.reject = reject;
        if (hold) hold(command);
        else this.add(command);
      });
    } catch (error) {
      command.onFailure?.(command, error);
      throw error;
    } finally {
      if (command.hasTurn) this.#release(command);
    }
  }

  /** Resolves once no command to some devices runs or waits in its queue. */
  async idle(isOf: (chipid: string) => boolean): Promise<void> {
    while ([...this.#queues.keys()].some(isOf)) await sleep(IDLE);
  }

  /** As {@link run}, for a command that nothing but its queue has to know. */
  call<T>(chipid: string, work: () => Promise<T>, caller: Caller = {}): Promise<T> {
    return this.run(new Command(chipid, work, caller));
  }

  /** Puts a command that waits at the end of its device's queue. It begins at once if the device has no queue. */
  add(command: Command): void {
    const { chipid } = command;
    const queue = this.#queues.get(chipid);
    if (!queue) {
      this.#occupy(command);
      this.#start(command);
    } else if (command.isCounted && isFull(queue)) {
      const waiting = `${MAX_WAITING} commands wait already`;
      this.refuse(command, queueFull(this.#options.titleOf(chipid), waiting));
    } else {
      queue.pending.push(command);
      command.queue = queue;
      this.#changed(chipid, queue);
    }
  }

  /** Removes a command from its queue, so that it can be added again. */
  withdraw(command: Command): void {
    const { chipid, queue } = command;
    const index = queue?.pending.indexOf(command) ?? -1;
    if (!queue || index < 0) return;
    queue.pending.splice(index, 1);
    command.queue = undefined;
    command.ahead = -1;
    this.#changed(chipid, queue);
  }

  /** Ends a command, unless it has begun. @param error its promise rejects with it; undefined: it stays pending */
  refuse(command: Command, error: DeviceCloudError | undefined): void {
    if (command.isSettled) return;
    command.settle();
    this.withdraw(command);
    if (error) command.reject?.(error);
  }

  /**
   * Ends a command whose caller goes away, unless it has begun. One that another caller is to take ends without an outcome:
   * there may be 10,000, each of which would have an error and pass it on, all in one turn of the event loop.
   * @param why as in "Not sent: "
   */
  abandon(command: Command, why: string): void {
    const isTaken = command.saved?.isDetached;
    this.refuse(command, isTaken ? undefined : this.#notSent(command.chipid, why));
  }

  /** Refuses every pending command and clears the timers. The caller ends those that run. */
  close(): void {
    const all = [...this.#queues.values()];
    // Cleared first, since refusing a command may add others.
    this.#queues.clear();
    for (const { timer, pending } of all) {
      clearTimeout(timer);
      for (const command of pending.splice(0)) this.abandon(command, CLOSED);
    }
  }

  /** A command that had to wait has its turn. */
  #start(command: Command): void {
    // What was called meanwhile may have refused it.
    if (command.isSettled) return;
    try {
      command.resolve?.(this.#begin(command));
    } catch (error) {
      command.reject?.(error);
    }
  }

  /** The one place where a command is sent. */
  #begin<T>(command: Command<T>): Promise<T> {
    command.settle();
    const { progress, semaphore, longest = LONGEST } = command.caller;
    const { guard } = this.#options;
    const send = (): Promise<T> => {
      this.#checkSignal(command);
      return guard ? guard.send(command.chipid, longest, command.work) : command.work();
    };
    progress?.(CALLING);
    if (!semaphore) return send();
    this.#checkSignal(command);
    return semaphore.run(send);
  }

  #notSent(chipid: string, why: string): DeviceCloudError {
    return notSent(this.#options.titleOf(chipid), why);
  }

  #checkSignal({ chipid, caller: { signal } }: Command): void {
    if (signal?.aborted) throw this.#notSent(chipid, this.#options.explain(signal));
  }

  #occupy(command: Command): void {
    const queue = new DeviceQueue();
    command.queue = queue;
    queue.running = command;
    this.#queues.set(command.chipid, queue);
    this.#options.observer?.(command.chipid, 0, 1);
  }

  #release({ chipid, queue }: Command): void {
    // After a close, another queue may have begun.
    if (!queue || this.#queues.get(chipid) !== queue) return;
    queue.running = undefined;
    if (this.#gap === 0) this.#startNext(chipid, queue);
    else {
      queue.timer = setTimeout(() => this.#startNext(chipid, queue), this.#gap);
      this.#changed(chipid, queue);
    }
  }

  #startNext(chipid: string, queue: DeviceQueue): void {
    const next = (queue.running = queue.pending.shift());
    if (!next) this.#queues.delete(chipid);
    this.#changed(chipid, queue);
    if (next) this.#start(next);
  }

  #changed(chipid: string, queue: DeviceQueue): void {
    // What was called meanwhile may have ended this queue and begun another.
    if ((this.#queues.get(chipid) ?? queue) !== queue) return;
    this.#options.observer?.(chipid, queue.pending.length, queue.running ? 1 : 0);
    showPlaces(queue);
  }
}

const isFull = ({ pending }: DeviceQueue): boolean =>
  pending.length >= MAX_WAITING &&
  pending.filter(({ isCounted }) => isCounted).length >= MAX_WAITING;

/** Shows each caller how many commands are before its own, if that has changed. A caller may add and abort commands. */
function showPlaces({ pending, running }: DeviceQueue): void {
  pending.forEach((command, index) => {
    const { progress } = command.caller;
    const ahead = running ? index + 1 : index;
    if (!progress || command.isSettled || ahead === command.ahead) return;
    command.ahead = ahead;
    progress({ state: 'waiting', ahead });
  });
}
