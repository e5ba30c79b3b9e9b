import type { ChannelLease, ChannelUser, RecoverOptions } from '../../src/channel-user';
import type { DeviceCloudClient } from '../../src/client';
import type { Upload } from '../../src/upload-event';
import type { DeviceState } from './listen-status';
import type { Positions } from './positions';

/** The devices that a listener listens to. */
export interface Subscriptions {
  add(chipid: string): void;
  /** Listens to a device no longer; what it uploads from now on is not owed. */
  remove(chipid: string): void;
  /** Listens to exactly these. One that comes back is owed what it uploaded meanwhile. */
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

/** How missed uploads are recovered; undefined: not at all. */
export interface Recover {
  encoding: 'text' | 'base64';
  positions: Positions;
}

interface Subscription extends DeviceState {
  lease: ChannelLease;
}

export function createSubscriptions(
  client: DeviceCloudClient,
  listener: Listener,
  recover: Recover | undefined,
): Subscriptions {
  const open = new Map<string, Subscription>();

  const recoverOptions = (chipid: string): RecoverOptions | undefined =>
    recover && {
      encoding: recover.encoding,
      start: recover.positions.get(chipid),
      save: (position) => recover.positions.set(chipid, position),
    };

  const add = (chipid: string): void => {
    if (open.has(chipid)) return;
    const user: ChannelUser = {
      onUpload: (upload) => listener.onUpload(upload),
      onState: (state, reason) => {
        Object.assign(subscription, { state, reason });
        if (state === 'disconnected') {
          listener.onFault(chipid, `the channel is down (${reason ?? 'closed'})`);
        }
        listener.onChange();
      },
      onFault: (fault) => listener.onFault(chipid, fault),
    };
    const lease = client.listen(chipid, user, recoverOptions(chipid));
    const { state, reason } = lease.channel;
    const subscription: Subscription = { lease, state, reason };
    open.set(chipid, subscription);
    listener.onChange();
  };

  const drop = (chipid: string): void => {
    const subscription = open.get(chipid);
    if (!subscription) return;
    open.delete(chipid);
    subscription.lease.release();
    listener.onChange();
  };

  return {
    add,
    remove(chipid) {
      drop(chipid);
      recover?.positions.forget(chipid);
    },
    replace(chipids) {
      const wanted = new Set(chipids);
      for (const chipid of [...open.keys()]) if (!wanted.has(chipid)) drop(chipid);
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
