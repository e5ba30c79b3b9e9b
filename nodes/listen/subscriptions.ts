import type { ChannelSubscription, ChannelState, ChannelListener } from '../../src/channel/types';
import type { RecoverOptions } from '../../src/recovery/options';
import type { DeviceCloudClient } from '../../src/client';
import type { EncodingSetting } from '../../src/recovery/facts';
import type { Position } from '../../src/recovery/position';
import type { Upload } from '../../src/channel/frames';
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
  states(): Iterable<DeviceState>;
  close(): void;
}

/** Who is told of what happens on the channels. */
export interface Listener {
  onUpload(upload: Upload): void;
  /** A channel's state or the set of devices has changed. */
  onChange(): void;
  /**
   * Something is wrong with a device's channel or its recovery, in words for the log.
   * @param kind the same for all faults of a kind, whatever the device
   */
  onFault(chipid: string, fault: string, kind: string): void;
}

/** How missed uploads are recovered; undefined: not at all. */
export interface Recover {
  encoding: EncodingSetting;
  zone: string;
  positions: Positions;
}

/** The subscription to one device: there may be very many, so that it has no functions of its own. */
class Subscription implements ChannelListener, RecoverOptions, DeviceState {
  state: ChannelState = 'connecting';
  reason: string | undefined = undefined;
  channelSubscription: ChannelSubscription | undefined = undefined;

  constructor(
    private readonly chipid: string,
    private readonly listener: Listener,
    private readonly recover: Recover | undefined,
  ) {}

  get encoding(): EncodingSetting | undefined {
    return this.recover?.encoding;
  }

  get zone(): string | undefined {
    return this.recover?.zone;
  }

  get start(): Position | undefined {
    return this.recover?.positions.get(this.chipid);
  }

  save(position: Position): void {
    this.recover?.positions.set(this.chipid, position);
  }

  onUpload(upload: Upload): void {
    this.listener.onUpload(upload);
  }

  onState(state: ChannelState, reason?: string): void {
    this.state = state;
    this.reason = reason;
    if (state === 'disconnected') {
      const why = reason ?? 'closed';
      this.listener.onFault(this.chipid, `the channel is down (${why})`, `down ${why}`);
    }
    this.listener.onChange();
  }

  onFault(fault: string, kind = fault): void {
    this.listener.onFault(this.chipid, fault, kind);
  }
}

export function createSubscriptions(
  client: DeviceCloudClient,
  listener: Listener,
  recover: Recover | undefined,
): Subscriptions {
  const open = new Map<string, Subscription>();

  const add = (chipid: string): void => {
    if (open.has(chipid)) return;
    const subscription = new Subscription(chipid, listener, recover);
    const channelSubscription = client.listen(chipid, subscription, recover && subscription);
    subscription.channelSubscription = channelSubscription;
    subscription.state = channelSubscription.channel.state;
    subscription.reason = channelSubscription.channel.reason;
    open.set(chipid, subscription);
    listener.onChange();
  };

  const drop = (chipid: string): void => {
    const subscription = open.get(chipid);
    if (!subscription) return;
    open.delete(chipid);
    subscription.channelSubscription?.release();
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
    states: () => open.values(),
    close() {
      for (const { channelSubscription } of open.values()) channelSubscription?.release();
      open.clear();
    },
  };
}
