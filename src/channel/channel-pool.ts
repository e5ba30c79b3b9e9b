import { Channel, type ChannelSettings } from './channel';
import { IsolatedListener } from './isolated-listener';
import type { ChannelListener, ChannelSubscription } from './types';

/** A subscription as the parts of the application hold it, with the whole channel. */
export interface OpenSubscription extends ChannelSubscription {
  readonly channel: Channel;
}

/** The channels of one application: one per device, for any number of listeners. */
export class Channels {
  readonly #settings: ChannelSettings;
  readonly #open = new Map<string, Channel>();
  #closed = false;

  constructor(settings: ChannelSettings) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Joins the channel of a device, and opens it for its first listener. Once closed, it opens no more.
   * @throws DeviceCloudError `INVALID_INPUT` if the listener is not an object
   */
  join(chipid: string, listener: ChannelListener): OpenSubscription {
    const isolated = new IsolatedListener(listener);
    const channel = this.#channel(chipid);
    channel.join(isolated);
    return new Subscription(this, chipid, channel, isolated);
  }

  /** Removes a listener from a channel, and closes a channel without listeners. It may have left already. */
  leave(chipid: string, channel: Channel, listener: IsolatedListener): void {
    channel.leave(listener);
    if (channel.size > 0 || this.#open.get(chipid) !== channel) return;
    this.#open.delete(chipid);
    channel.close();
  }

  /** Called when channels may be opened that were held, or no longer may be opened: with a cluster. */
  checkAccess(): void {
    for (const channel of [...this.#open.values()]) channel.checkAccess();
  }

  close(): void {
    this.#closed = true;
    for (const channel of this.#open.values()) channel.close();
    this.#open.clear();
    this.#settings.close?.();
  }

  #channel(chipid: string): Channel {
    const open = this.#open.get(chipid);
    if (open) return open;
    const channel = new Channel(chipid, this.#settings);
    // Nothing would ever close it.
    if (this.#closed) channel.close();
    else this.#open.set(chipid, channel);
    return channel;
  }
}

/** Hides its fields, as the channel does. */
class Subscription implements OpenSubscription {
  readonly channel: Channel;
  readonly #channels: Channels;
  readonly #chipid: string;
  readonly #listener: IsolatedListener;

  constructor(channels: Channels, chipid: string, channel: Channel, listener: IsolatedListener) {
    this.channel = channel;
    this.#channels = channels;
    this.#chipid = chipid;
    this.#listener = listener;
  }

  release(): void {
    this.#channels.leave(this.#chipid, this.channel, this.#listener);
  }
}
