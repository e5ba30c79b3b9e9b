import type { ChannelSubscription, ChannelState, ChannelListener } from '../channel/types';
import type { RecoverOptions } from './options';
import type { Channels, OpenSubscription } from '../channel/channel-pool';
import { IsolatedListener } from '../channel/isolated-listener';
import { Accounts } from './account';
import { encodingSetting } from './encoding';
import { HistoryFacts, type Encoding } from './facts';
import type { Position } from './position';
import type { RecoveryDevice, RecoveryShared } from './deps';
import { Recovery } from './recovery';
import { LIMITS } from './timing';
import { Turns } from './turns';
import { zoneOffset } from './zone';
import type { Upload } from '../channel/frames';

interface ListeningDeps {
  appid: string;
  channels: Channels;
  /** Reads the history of a device, whatever its records look like. */
  readUploads: (chipid: string, signal: AbortSignal) => Promise<readonly unknown[]>;
  now: () => number;
  random: () => number;
}

/** Joins a channel as a listener, with or without recovery. */
export type Listen = (
  chipid: string,
  user: ChannelListener,
  recover?: RecoverOptions,
) => ChannelSubscription;

export interface Listening {
  listen: Listen;
  /** How the history writes bodies, once an upload that came both ways has shown it. */
  readonly historyEncoding: Encoding | undefined;
  /** Ends every recovery; the channels are closed by themselves. */
  close(): void;
}

/** One listener with recovery: what the channel brings goes to the recovery, what that gives to its user. */
class RecoveringListener implements ChannelListener, RecoveryDevice, ChannelSubscription {
  readonly encoding: RecoveryDevice['encoding'];
  readonly zone: number;
  private readonly recovery: Recovery;
  private readonly subscription: OpenSubscription;
  private readonly user: IsolatedListener;

  constructor(
    readonly chipid: string,
    user: ChannelListener,
    private readonly options: RecoverOptions,
    private readonly active: Set<Recovery>,
    shared: RecoveryShared,
    channels: Channels,
  ) {
    // What its callbacks throw is no fault of the channel, and must not keep recovery from its work.
    this.user = new IsolatedListener(user);
    this.encoding = encodingSetting(options.encoding);
    this.zone = zoneOffset(options.zone);
    this.recovery = new Recovery(shared, this);
    this.subscription = channels.join(chipid, this);
    active.add(this.recovery);
    const { state } = this.subscription.channel;
    if (state === 'connected') this.recovery.onConnected();
    else if (state === 'disconnected') this.recovery.onDisconnected();
  }

  get channel(): OpenSubscription['channel'] {
    return this.subscription.channel;
  }

  get saves(): boolean {
    return this.options.save !== undefined;
  }

  get start(): Position | undefined {
    return this.options.start;
  }

  onUpload(upload: Upload): void {
    this.recovery.onUpload(upload);
  }

  onState(state: ChannelState, reason?: string): void {
    if (state === 'connected') this.recovery.onConnected();
    else if (state === 'disconnected') this.recovery.onDisconnected();
    this.user.onState(state, reason);
  }

  onFault(fault: string, kind?: string): void {
    this.user.onFault(fault, kind);
  }

  onGap(): void {
    this.recovery.onGap();
    this.user.onGap();
  }

  flush(passed: () => void): void {
    this.subscription.channel.flush(passed);
  }

  emit(upload: Upload): void {
    this.user.onUpload(upload);
  }

  fault(text: string, kind: string): void {
    this.user.onFault(text, kind);
  }

  save(position: Position): void {
    this.options.save?.(position);
  }

  release(): void {
    this.user.release();
    this.active.delete(this.recovery);
    this.recovery.close();
    this.subscription.release();
  }
}

export function createListening(deps: ListeningDeps): Listening {
  const { appid, channels, readUploads, now, random } = deps;
  const turns = new Turns();
  const facts = new HistoryFacts();
  const shared: RecoveryShared = {
    ...{ appid, turns, facts, now, random },
    read: readUploads,
    accounts: new Accounts(),
    limits: LIMITS,
  };
  const active = new Set<Recovery>();

  return {
    listen: (chipid, user, recover) =>
      recover
        ? new RecoveringListener(chipid, user, recover, active, shared, channels)
        : channels.join(chipid, user),
    get historyEncoding() {
      return facts.encoding;
    },
    close() {
      for (const recovery of active) recovery.close();
      active.clear();
      turns.close();
    },
  };
}
