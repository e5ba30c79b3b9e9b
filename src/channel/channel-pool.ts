import { Channel, type ChannelSettings } from './channel';
import type { ChannelSubscription, ChannelListener } from './types';
import { IsolatedListener } from './isolated-listener';

/** A subscription as the parts of the application hold it, with the whole channel. */
export interface OpenSubscription extends ChannelSubscription {
  readonly channel: Channel;
}

/** The channels of one application: one per device, however many use it. */
export interface Channels {
  /**
   * Joins the channel of a device, and opens it if nobody has. After the close it stays closed.
   * @throws DeviceCloudError `INVALID_INPUT` if the user is no object
   */
  join(chipid: string, user: ChannelListener): OpenSubscription;
  readonly size: number;
  close(): void;
}

export function createChannels(settings: ChannelSettings): Channels {
  const open = new Map<string, Channel>();
  let closed = false;

  return {
    join(chipid, user) {
      const place = new IsolatedListener(user);
      let channel = open.get(chipid);
      if (!channel) {
        channel = new Channel(chipid, settings);
        // Nobody would close it any more.
        if (closed) channel.close();
        else open.set(chipid, channel);
      }
      const joined = channel;
      joined.join(place);
      return {
        channel: joined,
        release() {
          joined.leave(place);
          if (joined.size > 0 || open.get(chipid) !== joined) return;
          open.delete(chipid);
          joined.close();
        },
      };
    },
    get size() {
      return open.size;
    },
    close() {
      closed = true;
      for (const channel of open.values()) channel.close();
      open.clear();
      settings.close?.();
    },
  };
}
