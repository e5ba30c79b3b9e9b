import {
  type ChannelListener,
  type ChannelSubscription,
  IsolatedListener,
} from '../channel/listener';
import type { Channels } from '../channel/pool';
import type { Keeping } from '../store/store';
import { HistoryFacts, isLearned } from './facts';
import {
  Budgets,
  type ExactOptions,
  LIMITS,
  type RecoveringChannel,
  type RecoverOptions,
  type RecoveryShared,
} from './options';
import { type DeviceHistory, Recovery } from './recovery';

interface ListeningDeps extends Omit<RecoveryShared, 'budgets' | 'facts' | 'limits'> {
  channels: Channels;
  /** What was learned of the histories of the application survives a restart. */
  store: Keeping;
}

const LEARNED = 'fact:history';

/** The listeners of an application. */
export class Listening {
  /** What recoveries share, so that others can read histories within the same limits. */
  readonly shared: RecoveryShared;
  readonly #channels: Channels;
  readonly #store: Keeping;
  readonly #histories = new Map<string, DeviceHistory>();

  constructor({ channels, store, ...shared }: ListeningDeps) {
    this.#channels = channels;
    this.#store = store;
    const facts = new HistoryFacts((learned) => store.update(LEARNED, learned));
    this.shared = { ...shared, facts, budgets: new Budgets(), limits: LIMITS };
    void store.loaded.then(this.#restore);
    // In a cluster, another process may have learned it.
    store.onMoved.add(this.#restore);
  }

  /** Joins a channel as a listener, with or without recovery. */
  listen(chipid: string, listener: ChannelListener, options?: RecoverOptions): ChannelSubscription {
    if (options) return this.recover(chipid, listener, options);
    return this.#channels.join(chipid, new IsolatedListener(listener));
  }

  /** As {@link listen} with recovery. */
  recover(chipid: string, listener: ChannelListener, options: ExactOptions): RecoveringChannel {
    const deps = { shared: this.shared, channels: this.#channels, histories: this.#histories };
    return new Recovery(deps, chipid, listener, options);
  }

  /** Ends every recovery, but closes no channel. */
  close(): void {
    this.#store.onMoved.delete(this.#restore);
    for (const history of this.#histories.values()) history.close();
  }

  readonly #restore = (): void => {
    const learned = this.#store.get(LEARNED);
    if (isLearned(learned)) this.shared.facts.restore(learned);
  };
}
