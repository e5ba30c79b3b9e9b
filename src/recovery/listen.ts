import {
  type ChannelListener,
  type ChannelSubscription,
  IsolatedListener,
} from '../channel/listener';
import type { RecoverOptions } from './options';
import type { Channels, OpenSubscription } from '../channel/pool';
import { readInput } from '../input/values';
import type { ServiceLimiter } from '../http/service-limiter';
import { HistoryFacts } from '../history/form';
import type { StreamHistory } from '../history/record-reader';
import { parseZoneSetting } from '../history/zone';
import { Budgets, LIMITS } from './options';
import { checkStart, type Position } from './position';
import type { RecoveryDevice, RecoveryObserver, RecoveryShared } from './options';
import { Recovery } from './recovery';

interface ListeningDeps {
  appid: string;
  channels: Channels;
  /** Reads the history of a device, whatever its records look like. */
  readUploads: StreamHistory;
  /** Of the histories that are read side by side. */
  limiter: ServiceLimiter;
  now: () => number;
  random: () => number;
  observer: RecoveryObserver;
}

/** Joins a channel as a listener, with or without recovery. */
export type Listen = (
  chipid: string,
  listener: ChannelListener,
  recover?: RecoverOptions,
) => ChannelSubscription;

/** A subscription with recovery, as the parts of the application hold it. */
export interface RecoveringChannel extends ChannelSubscription {
  /**
   * Whether everything up to now has been emitted, so that whatever is replayed from now on was uploaded later. It may
   * change when the option `save` is called, or the channel's state changes.
   */
  readonly isComplete: boolean;
}

export interface Listening {
  listen: Listen;
  /** As `listen` with recovery. */
  recover: (
    chipid: string,
    listener: ChannelListener,
    options: RecoverOptions,
  ) => RecoveringChannel;
  /** What recoveries share, so that others can read histories within the same limits. */
  readonly shared: RecoveryShared;
  /** Ends every recovery, but closes no channel. */
  close(): void;
}

/** A subscription with recovery: channel, recovery, listener. */
class RecoveringSubscription implements RecoveryDevice, RecoveringChannel {
  readonly zone: number | undefined;
  readonly listener: IsolatedListener;
  readonly #recovery: Recovery;
  readonly #subscription: OpenSubscription;
  readonly #options: RecoverOptions;
  readonly #active: Set<Recovery>;

  constructor(
    readonly chipid: string,
    listener: ChannelListener,
    options: RecoverOptions,
    active: Set<Recovery>,
    shared: RecoveryShared,
    channels: Channels,
  ) {
    this.#options = options;
    this.#active = active;
    // A callback that throws must stop neither the channel nor the recovery.
    this.listener = new IsolatedListener(listener);
    readInput('start of a listener', () => checkStart(options.start));
    this.zone = parseZoneSetting(options.zone);
    this.#recovery = new Recovery(shared, this);
    this.#subscription = channels.join(chipid, this.#recovery);
    active.add(this.#recovery);
    const { state } = this.channel;
    if (state !== 'connecting') this.#recovery.joined(state);
  }

  get channel(): OpenSubscription['channel'] {
    return this.#subscription.channel;
  }

  get isComplete(): boolean {
    return this.#recovery.isComplete;
  }

  get start(): Position | undefined {
    return this.#options.start ?? undefined;
  }

  get saves(): boolean {
    return (this.#options.save ?? this.#options.saveLater) !== undefined;
  }

  save(position: () => Position): unknown {
    this.#options.saveLater?.(position);
    return this.#options.save?.(position());
  }

  flush(flushed: () => void): void {
    this.channel.flush(flushed);
  }

  release(): void {
    this.listener.release();
    this.#active.delete(this.#recovery);
    this.#recovery.close();
    this.#subscription.release();
  }
}

export function createListening(deps: ListeningDeps): Listening {
  const { appid, channels, readUploads, limiter, now, random, observer } = deps;
  const facts = new HistoryFacts();
  const shared: RecoveryShared = {
    ...{ appid, limiter, facts, now, random, observer },
    read: readUploads,
    budgets: new Budgets(),
    limits: LIMITS,
  };
  const active = new Set<Recovery>();
  const recover: Listening['recover'] = (chipid, listener, options) =>
    new RecoveringSubscription(chipid, listener, options, active, shared, channels);

  return {
    shared,
    listen: (chipid, listener, options) =>
      options
        ? recover(chipid, listener, options)
        : channels.join(chipid, new IsolatedListener(listener)),
    recover,
    close() {
      for (const recovery of active) recovery.close();
      active.clear();
    },
  };
}
