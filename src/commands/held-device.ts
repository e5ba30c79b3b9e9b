import type { ChannelListener, ChannelSubscription } from '../channel/types';
import type { CommandHolder, HeldCommand, HeldShared } from './held-command';

/** What the devices of held commands share. */
export interface HeldDeviceShared extends HeldShared {
  readonly channels: { join(chipid: string, listener: ChannelListener): ChannelSubscription };
  /** The number of commands that watch the list has changed by 1 or -1. */
  watchList(change: 1 | -1): void;
  /** A command has come. */
  added(device: HeldDevice): void;
  /** A command has gone. */
  removed(device: HeldDevice): void;
}

/** The commands that wait for one device, in the order of arrival, and its channel. */
export class HeldDevice implements CommandHolder {
  readonly chipid: string;
  readonly #shared: HeldDeviceShared;
  #commands: HeldCommand[] = [];
  #subscription: ChannelSubscription | undefined;
  /** When a call to the device got no answer, on the clock of the timers. */
  #lostAt = -Infinity;

  constructor(chipid: string, shared: HeldDeviceShared) {
    this.chipid = chipid;
    this.#shared = shared;
  }

  /** Commands that wait, in the device's queue as well. */
  get size(): number {
    return this.#commands.length;
  }

  /** Those that are not in the device's queue. */
  get waiting(): number {
    let count = 0;
    for (const { isWaiting } of this.#commands) if (isWaiting) count++;
    return count;
  }

  /** Milliseconds since a call to the device got no answer. */
  get sinceLost(): number {
    return this.#shared.timers.now() - this.#lostAt;
  }

  add(command: HeldCommand): void {
    this.#commands.push(command);
    this.#shared.added(this);
    command.showWaiting();
  }

  watchFor(command: HeldCommand): void {
    // A live upload is a sign of life for every command. Replayed ones do not reach this listener.
    this.#subscription ??= this.#shared.channels.join(this.chipid, {
      onUpload: () => this.#release(() => true),
    });
    if (command.isWatched) return;
    command.isWatched = true;
    if (command.when === 'online') this.#shared.watchList(1);
  }

  remove(command: HeldCommand): void {
    this.#commands.splice(this.#commands.indexOf(command), 1);
    if (command.isWatched && command.when === 'online') this.#shared.watchList(-1);
    if (this.size === 0) {
      this.#subscription?.release();
      this.#subscription = undefined;
    }
    this.#shared.removed(this);
  }

  /** The device is in the list of online devices. */
  listed(): void {
    this.#release(({ when }) => when === 'online');
  }

  /** A call to the device got no answer: what is left waits for the next sign of life. */
  lost(): void {
    this.#lostAt = this.#shared.timers.now();
    for (const command of [...this.#commands]) command.reclaim();
  }

  /** Ends all. @param why completes "was not sent: " */
  close(why: string): void {
    for (const command of [...this.#commands]) command.refuse(why);
  }

  /** The first call may begin at once, and its caller may add and end commands: these do not count. */
  #release(isMeant: (command: HeldCommand) => boolean): void {
    for (const command of [...this.#commands])
      if (command.isWaiting && isMeant(command)) command.release();
  }
}
