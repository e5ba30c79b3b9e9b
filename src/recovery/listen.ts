import {
  type ChannelListener,
  type ChannelSubscription,
  IsolatedListener,
} from '../channel/listener';
import type { Channels, OpenSubscription } from '../channel/pool';
import { readInput } from '../input/values';
import type { ServiceLimiter } from '../http/service-limiter';
import type { Guard } from '../util/guard';
import type { Keeping } from '../store/store';
import { HistoryFacts, isLearned } from './facts';
import {
  Budgets,
  type ExactOptions,
  LIMITS,
  type RecoverOptions,
  type RecoveryObserver,
  type RecoveryShared,
} from './options';
import { checkStart } from './position';
import type { StreamHistory } from './reader';
import { DeviceHistory, Recovery, type RecoveryDevice } from './recovery';
import { parseZoneSetting } from './zone';

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
  guard?: Guard;
  /** What was learned of the histories of the application survives a restart. */
  store: Keeping;
}

const LEARNED = 'fact:history';

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
  recover: (chipid: string, listener: ChannelListener, options: ExactOptions) => RecoveringChannel;
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
  readonly #recoveries: Recoveries;

  constructor(
    readonly chipid: string,
    listener: ChannelListener,
    readonly options: ExactOptions,
    recoveries: Recoveries,
    channels: Channels,
  ) {
    this.#recoveries = recoveries;
    // A callback that throws must stop neither the channel nor the recovery.
    this.listener = new IsolatedListener(listener);
    readInput('start of a listener', () => checkStart(options.start));
    this.zone = parseZoneSetting(options.zone);
    this.#recovery = recoveries.add(this);
    this.#subscription = channels.join(chipid, this.#recovery);
    const { state } = this.channel;
    if (state !== 'connecting') this.#recovery.joined(state);
  }

  get channel(): OpenSubscription['channel'] {
    return this.#subscription.channel;
  }

  get isComplete(): boolean {
    return this.#recovery.isComplete;
  }

  flush(passed: () => void): void {
    this.channel.flush(passed);
  }

  release(): void {
    this.listener.release();
    this.#recoveries.remove(this.chipid, this.#recovery);
    this.#subscription.release();
  }
}

/** The recoveries of an application. Those of a device share its readings. */
class Recoveries {
  readonly #shared: RecoveryShared;
  readonly #active = new Set<Recovery>();
  readonly #histories = new Map<string, DeviceHistory>();

  constructor(shared: RecoveryShared) {
    this.#shared = shared;
  }

  add(device: RecoveryDevice): Recovery {
    const { chipid } = device;
    const history = this.#histories.get(chipid) ?? new DeviceHistory(this.#shared, chipid);
    this.#histories.set(chipid, history);
    const recovery = new Recovery(this.#shared, device, history);
    this.#active.add(recovery);
    return recovery;
  }

  remove(chipid: string, recovery: Recovery): void {
    this.#active.delete(recovery);
    recovery.close();
    if (this.#histories.get(chipid)?.isEmpty) this.#histories.delete(chipid);
  }

  close(): void {
    for (const recovery of this.#active) recovery.close();
    this.#active.clear();
    this.#histories.clear();
  }
}

export function createListening(deps: ListeningDeps): Listening {
  const { appid, channels, readUploads, limiter, now, random, observer, guard, store } = deps;
  const facts = new HistoryFacts((learned) => store.update(LEARNED, learned));
  const restore = (): void => {
    const learned = store.get(LEARNED);
    if (isLearned(learned)) facts.restore(learned);
  };
  void store.loaded.then(restore);
  // In a cluster, another process may have learned it.
  store.onMoved.add(restore);
  const shared: RecoveryShared = {
    ...{ appid, limiter, facts, now, random, observer },
    read: readUploads,
    budgets: new Budgets(),
    limits: LIMITS,
    ...(guard && { guard }),
  };
  const recoveries = new Recoveries(shared);
  const recover: Listening['recover'] = (chipid, listener, options) =>
    new RecoveringSubscription(chipid, listener, options, recoveries, channels);

  return {
    shared,
    listen: (chipid, listener, options) =>
      options
        ? recover(chipid, listener, options)
        : channels.join(chipid, new IsolatedListener(listener)),
    recover,
    close() {
      store.onMoved.delete(restore);
      recoveries.close();
    },
  };
}
