import {
  type ChannelListener,
  type ChannelSubscription,
  IsolatedListener,
} from '../channel/listener';
import type { Channels } from '../channel/pool';
import type { ServiceLimiter } from '../http/service-limiter';
import type { Guard } from '../util/guard';
import type { Keeping } from '../store/store';
import { HistoryFacts, isLearned } from './facts';
import {
  Budgets,
  type ExactOptions,
  type RecoveringChannel,
  LIMITS,
  type RecoverOptions,
  type RecoveryObserver,
  type RecoveryShared,
} from './options';
import type { StreamHistory } from './reader';
import { type DeviceHistory, Recovery } from './recovery';

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

export interface Listening {
  listen: Listen;
  /** As `listen` with recovery. */
  recover: (chipid: string, listener: ChannelListener, options: ExactOptions) => RecoveringChannel;
  /** What recoveries share, so that others can read histories within the same limits. */
  readonly shared: RecoveryShared;
  /** Ends every recovery, but closes no channel. */
  close(): void;
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
  const histories = new Map<string, DeviceHistory>();
  const recover: Listening['recover'] = (chipid, listener, options) =>
    new Recovery({ shared, channels, histories }, chipid, listener, options);

  return {
    shared,
    listen: (chipid, listener, options) =>
      options
        ? recover(chipid, listener, options)
        : channels.join(chipid, new IsolatedListener(listener)),
    recover,
    close() {
      store.onMoved.delete(restore);
      for (const history of histories.values()) history.close();
    },
  };
}
