import type { ChannelLease } from '../../src/channels';
import type { DeviceCloudClient } from '../../src/client';
import type { Upload } from '../../src/upload-event';
import type { DeviceState } from './listen-status';

/** The devices that a listener listens to. */
export interface Subscriptions {
  add(chipid: string): void;
  remove(chipid: string): void;
  /** Listens to exactly these. */
  replace(chipids: readonly string[]): void;
  chipids(): string[];
  states(): DeviceState[];
  close(): void;
}

/** Who is told of what happens on the channels. */
export interface Listener {
  onUpload(upload: Upload): void;
  /** A channel's state or the set of devices has changed. */
  onChange(): void;
  /** Something is wrong with a device's channel, in words for the log. */
  onFault(chipid: string, fault: string): void;
}

interface Subscription extends DeviceState {
  lease: ChannelLease;
}

export function createSubscriptions(client: DeviceCloudClient, listener: Listener): Subscriptions {
  const open = new Map<string, Subscription>();

  const add = (chipid: string): void => {
    if (open.has(chipid)) return;
    const lease = client.listen(chipid, {
      onUpload: (upload) => listener.onUpload(upload),
      onState: (state, reason) => {
        Object.assign(subscription, { state, reason });
        if (state === 'disconnected') {
          listener.onFault(chipid, `the channel is down (${reason ?? 'closed'})`);
        }
        listener.onChange();
      },
      onFault: (fault) => listener.onFault(chipid, fault),
    });
    const { state, reason } = lease.channel;
    const subscription: Subscription = { lease, state, reason };
    open.set(chipid, subscription);
    listener.onChange();
  };

  const remove = (chipid: string): void => {
    const subscription = open.get(chipid);
    if (!subscription) return;
    open.delete(chipid);
    subscription.lease.release();
    listener.onChange();
  };

  return {
    add,
    remove,
    replace(chipids) {
      const wanted = new Set(chipids);
      for (const chipid of [...open.keys()]) if (!wanted.has(chipid)) remove(chipid);
      for (const chipid of wanted) add(chipid);
    },
    chipids: () => [...open.keys()],
    states: () => [...open.values()],
    close() {
      for (const { lease } of open.values()) lease.release();
      open.clear();
    },
  };
}
