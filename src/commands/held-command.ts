import type { Timed, TimerQueue } from '../channel/timer-queue';
import { DeviceCloudError } from '../errors';
import { onAbort } from '../http/deadline';
import { notSent, type DeviceQueues } from './device-queues';
import type { Progress } from './progress';
import type { When } from '../types';

/** The options of a held command. */
export interface HeldOptions {
  when: Exclude<When, 'now'>;
  /** Seconds that it waits for its device. */
  expires: number;
  signal?: AbortSignal | undefined;
  progress?: Progress | undefined;
}

/** What the commands of an application share. */
export interface HeldShared {
  readonly queues: Pick<DeviceQueues, 'run'>;
  readonly timers: TimerQueue;
  /** Why a signal aborted, without secrets. */
  readonly explain: (signal: AbortSignal) => string;
}

/** The device of a held command, as the command sees it. */
export interface CommandHolder {
  readonly chipid: string;
  /** The command waits: the list and the channel of its device have to be watched. */
  watchFor(command: HeldCommand): void;
  /** The command no longer waits: its call has begun, or it has ended. */
  remove(command: HeldCommand): void;
}

/** Settles the promise of the caller. */
export interface Outcome {
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Milliseconds that a command may take to find its device in the list before its channel is opened. */
const CHECK = 500;

const expired = (chipid: string, seconds: number): DeviceCloudError =>
  new DeviceCloudError(
    'EXPIRED',
    `The command to device ${chipid} was not sent: it waited ${seconds} s for the device and expired. ` +
      'Check the power and the network of the device, or give the command more time.',
  );

/**
 * A command that waits for its device, then in the device's queue. It is in there at most once, and its
 * call begins at most once. A class with plain fields, since there may be thousands.
 */
export class HeldCommand implements Timed {
  due = 0;
  index = -1;
  /** Whether the channel and the list are watched for it; belongs to its holder. */
  isWatched = false;
  readonly when: HeldOptions['when'];
  readonly #holder: CommandHolder;
  readonly #shared: HeldShared;
  readonly #command: () => Promise<unknown>;
  readonly #options: HeldOptions;
  readonly #outcome: Outcome;
  readonly #expiresAt: number;
  readonly #ignoreSignal: (() => void) | undefined;
  /** Removes it from the device's queue. Set while it is in there, and afterwards. */
  #withdrawal: AbortController | undefined;
  #isOver = false;

  constructor(
    holder: CommandHolder,
    shared: HeldShared,
    command: () => Promise<unknown>,
    options: HeldOptions,
    outcome: Outcome,
  ) {
    const { expires, signal, when } = options;
    this.when = when;
    this.#holder = holder;
    this.#shared = shared;
    this.#command = command;
    this.#options = options;
    this.#outcome = outcome;
    const { timers, explain } = shared;
    const now = timers.now();
    this.#expiresAt = now + expires * 1000;
    // First, since the signal may be invalid.
    this.#ignoreSignal = signal && onAbort(signal, () => this.refuse(explain(signal)));
    timers.set(this, when === 'online' ? Math.min(this.#expiresAt, now + CHECK) : this.#expiresAt);
  }

  /** Whether it waits for its device, and not in the queue. */
  get isWaiting(): boolean {
    return !this.#isOver && this.#withdrawal === undefined;
  }

  /** Its time for finding the device in the list has passed, or it has expired. */
  onDue(): void {
    const { timers } = this.#shared;
    if (timers.now() >= this.#expiresAt) {
      this.#fail(expired(this.#holder.chipid, this.#options.expires));
      return;
    }
    timers.set(this, this.#expiresAt);
    if (this.isWaiting) this.#holder.watchFor(this);
  }

  /** Shows its caller that it waits. */
  showWaiting(): void {
    this.#options.progress?.({ state: 'awaiting-device' });
  }

  /** The device has shown itself: puts the command into the device's queue. */
  release(): void {
    const withdrawal = new AbortController();
    this.#withdrawal = withdrawal;
    const isIn = (): boolean => this.#withdrawal === withdrawal;
    const { chipid } = this.#holder;
    const { progress } = this.#options;
    const call = (): Promise<unknown> => {
      // Its turn has come, but it was withdrawn in the same moment.
      if (this.#isOver || !isIn()) throw notSent(chipid, 'it was withdrawn');
      this.#end();
      return this.#command();
    };
    const { resolve, reject } = this.#outcome;
    this.#shared.queues
      .run(chipid, call, {
        signal: withdrawal.signal,
        counted: false,
        progress: progress && ((each) => (isIn() ? progress(each) : undefined)),
      })
      .then(resolve, (error: unknown) => {
        if (!isIn()) return;
        if (!this.#isOver) this.#end();
        reject(error);
      });
  }

  /** The device is gone again: the command waits for the next sign of it, unless its call has begun. */
  reclaim(): void {
    if (this.#isOver || !this.#withdrawal) return;
    this.#withdraw();
    // Those behind it saw their places change, and may have ended it.
    if (!this.isWaiting) return;
    this.#holder.watchFor(this);
    this.showWaiting();
  }

  /** Ends it, unless its call has begun. @param why completes "was not sent: " */
  refuse(why: string): void {
    this.#fail(notSent(this.#holder.chipid, why));
  }

  #fail(error: DeviceCloudError): void {
    if (this.#isOver) return;
    this.#end();
    this.#withdraw();
    this.#outcome.reject(error);
  }

  /** From now on it neither expires nor waits. */
  #end(): void {
    this.#isOver = true;
    this.#shared.timers.remove(this);
    this.#ignoreSignal?.();
    this.#holder.remove(this);
  }

  #withdraw(): void {
    const withdrawal = this.#withdrawal;
    this.#withdrawal = undefined;
    withdrawal?.abort();
  }
}
