import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type ChannelListener,
  type ChannelState,
  type ChannelSubscription,
  IsolatedListener,
} from '../channel/listener';
import type { Channels, OpenSubscription } from '../channel/pool';
import { isDeviceCloudError, isWorthRetry } from '../errors';
import { readInput, catchRejection } from '../protocol/values';
import type { Keeping } from '../store/store';
import type { Upload } from '../types';
import { backoff } from '../util/backoff';
import { thrownText } from '../util/show';
import type { HistoryAnswer } from './answer';
import { DeviceHistory } from './device-history';
import { Engine } from './engine';
import { HistoryFacts, isLearned } from './facts';
import { Budgets, LIMITS } from './limits';
import type { ExactOptions, RecoveringChannel, RecoverOptions, RecoveryShared } from './options';
import { checkStart } from './position';
import { zoneOffset } from './zone';

/*
 *            connected, gap                  granted               answer
 *  listening ──────────────► due (a pause) ─────────► reading ───────────────► comparing ──► listening
 *      ▲                      ▲    ▲                     │ failed                   │ unclear, cut, owed
 *      └── disconnected ──────┘    └─────────────────────┴──────────────────────────┘
 *
 * `Engine` knows what is emitted and held back, for one listener. `DeviceHistory` reads the history of a device, for all
 * of its listeners at once. `Recovery` joins the channel for a listener, and is between the two.
 */

/** The longest time for which live uploads are held back, in ms: they must not stop while the history is down (rule 16). */
export const MAX_HOLD = 60_000;

const RETRY_BASE = 1000;
/** Well below {@link MAX_HOLD}, so that a history that recovers in time is noticed in time. */
const HOLDING_CAP = 10_000;
const RETRY_CAP = 30_000;
/** Of a history that is not understood, which may be long. */
const UNCLEAR_CAP = 10 * 60_000;
const MANY = 8;
/** Milliseconds until an upload that may have been announced late is looked up in the history. */
const DOUBT_DELAY = 250;
/** Milliseconds between two looks whether a process that shares the device may emit again. */
const SHUT = 250;
/** Half fixed, half random, so that devices neither retry at once nor all together. */
const FIXED = 0.5;
/** How often a reading is retried before its failure is reported, like every read that only reaches the cloud. */
const SILENT_TRIES = 2;

const textOf = (error: unknown): string =>
  isDeviceCloudError(error) ? error.message : thrownText(error);

/** Whether another try may succeed: the service, or the way to it, failed or is overloaded. */
const isPassing = (error: unknown): boolean =>
  isWorthRetry(error) || (isDeviceCloudError(error) && error.statusCode === 429);

/** What recoveries are made with. */
export interface RecoveryDeps {
  readonly shared: RecoveryShared;
  readonly channels: Pick<Channels, 'join'>;
  /** Those that are read, by device. */
  readonly histories: Map<string, DeviceHistory>;
}

/** Recovers what the channel of one device missed, for one listener. It is placed between the channel and its listener. */
export class Recovery implements ChannelListener, RecoveringChannel {
  readonly #shared: RecoveryShared;
  readonly #histories: Map<string, DeviceHistory>;
  readonly #history: DeviceHistory;
  readonly #chipid: string;
  readonly #listener: IsolatedListener;
  readonly #options: ExactOptions;
  readonly #engine: Engine;
  readonly #subscription: OpenSubscription;
  #isConnected = false;
  #isClosed = false;
  #holdTimer: NodeJS.Timeout | undefined;
  /** There was a gap, and no history has been settled since. */
  #isRecovering = false;
  /** How many missed uploads were emitted since the last recovery ended. */
  #replayed = 0;
  #altered = 0;
  /** The failure that was reported last; undefined once a reading has succeeded. */
  #reportedFailure: string | undefined;

  /** @throws DeviceCloudError `INVALID_INPUT` if the listener or an option is invalid */
  constructor(
    { shared, channels, histories }: RecoveryDeps,
    chipid: string,
    listener: ChannelListener,
    options: ExactOptions,
  ) {
    this.#shared = shared;
    this.#histories = histories;
    this.#chipid = chipid;
    // A callback that throws must stop neither the channel nor the recovery.
    this.#listener = new IsolatedListener(listener);
    this.#options = options;
    readInput('start of a listener', () => checkStart(options.start));
    const { appid, facts, budgets, limits, now } = shared;
    this.#engine = new Engine({
      appid,
      chipid,
      facts,
      budgets,
      limits,
      now,
      devices: () => histories.size,
      zone: zoneOffset(options.zone),
      start: options.start ?? undefined,
      emit: (upload, isLast) => this.#emit(upload, isLast),
      log: (text, kind) => this.onFault(text, kind),
    });
    this.#history = histories.get(chipid) ?? new DeviceHistory(shared, chipid);
    histories.set(chipid, this.#history);
    this.#history.join(this);
    this.#subscription = channels.join(chipid, this);
    if (this.channel.state !== 'connecting') this.#joined(this.channel.state);
  }

  get channel(): OpenSubscription['channel'] {
    return this.#subscription.channel;
  }

  release(): void {
    this.close();
    this.#subscription.release();
  }

  get isComplete(): boolean {
    return this.#engine.isComplete;
  }

  get delay(): number {
    const { again, isHolding, isUnclear } = this.#engine;
    if (again === undefined || this.#isClosed) return Infinity;
    if (!this.#mayEmit()) return SHUT;
    if (again === 0) return this.#engine.isDoubting ? DOUBT_DELAY : 0;
    const cap = isHolding ? HOLDING_CAP : isUnclear && again > MANY ? UNCLEAR_CAP : RETRY_CAP;
    return backoff(again - 1, RETRY_BASE, cap, this.#shared.random, FIXED);
  }

  onState(state: ChannelState, reason?: string): void {
    if (this.#isClosed) return;
    this.#joined(state);
    this.#listener.onState(state, reason);
  }

  /** The channel is in this state already: the listener is not called. */
  #joined(state: ChannelState): void {
    if (state !== 'connected' && state !== 'disconnected') return;
    this.#history.cancel();
    this.#isConnected = state === 'connected';
    if (this.#isConnected) {
      if (this.#engine.hasPosition) this.#began();
      this.#engine.connected();
    } else {
      this.#engine.disconnected();
    }
    this.#update();
  }

  onUpload(upload: Upload): void {
    if (this.#isClosed) return;
    if (!this.#mayEmit()) {
      // As if the channel had been cut: the history gives it back, here or to the process that has the device by then.
      this.#joined('connected');
      return;
    }
    this.#engine.upload(upload);
    this.#update();
  }

  /** Something arrived that could not be read, perhaps an upload. */
  onGap(): void {
    if (this.#isClosed) return;
    if (this.#engine.hasPosition) this.#began();
    this.#engine.gap();
    this.#listener.onGap();
    this.#update();
  }

  onFault(fault: string, kind?: string): void {
    this.#listener.onFault(fault, kind);
  }

  /** Ends it, but not the channel. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener.release();
    this.#released();
    if (this.#history.leave(this)) this.#histories.delete(this.#chipid);
    this.#engine.close();
    this.#ended();
  }

  request(): HistoryAnswer {
    return this.#engine.request();
  }

  async settle(answer: HistoryAnswer, signal: AbortSignal): Promise<void> {
    this.#reportedFailure = undefined;
    if (!this.#mayEmit()) {
      this.#readLater();
      return;
    }
    for (const _ of this.#engine.answer(answer)) {
      this.#save();
      await nextTurn();
      if (signal.aborted || this.#isClosed) return;
      if (this.#mayEmit()) continue;
      this.#readLater();
      return;
    }
    if (this.#engine.isComplete || this.#replayed > 0) this.#ended();
    this.#update();
  }

  failed(error: unknown): void {
    if (!this.#mayEmit()) {
      this.#readLater();
      return;
    }
    this.#engine.failed();
    const code = isDeviceCloudError(error) ? `${error.code} ${error.statusCode ?? ''}` : 'error';
    const isSilent = this.#engine.failures <= SILENT_TRIES && isPassing(error);
    if (!isSilent && code !== this.#reportedFailure) {
      this.#reportedFailure = code;
      this.onFault(`uploads could not be recovered: ${textOf(error)}`, `recovery failed ${code}`);
    }
    this.#update();
  }

  /** Whether anything may be emitted: another process may have the device. A function, since it may change at any time. */
  #mayEmit(): boolean {
    return this.#shared.guard?.mayEmit(this.#chipid) ?? true;
  }

  /** What an answer shows cannot be emitted now. */
  #readLater(): void {
    this.#engine.again ??= 0;
    this.#update();
  }

  /** @param isLast whether, of those that are given back, no other follows */
  #emit(upload: Upload, isLast = false): void {
    if (this.#isClosed) return;
    const before = this.#options.saveBefore && this.#engine.position();
    if (before) this.#options.saveBefore?.(before);
    if (upload.replayed) {
      this.#began();
      this.#replayed++;
      if (upload.altered) this.#altered++;
    }
    if (upload.replayed || this.#holdTimer) this.#shared.observer.onEmitted(upload, isLast);
    this.#listener.onUpload(upload);
  }

  /** Called whenever what is due, held back or emitted may have changed. */
  #update(): void {
    if (this.#isClosed) return;
    this.#save();
    if (!this.#engine.isHolding || !this.#isConnected) this.#released();
    else if (!this.#holdTimer) {
      this.#holdTimer = setTimeout(() => {
        if (!this.#mayEmit()) this.#released();
        else this.#engine.expired();
        this.#update();
      }, MAX_HOLD);
      this.#shared.observer.onHold(this.#chipid, true);
    }
    if (this.#engine.again !== undefined) this.#history.schedule();
  }

  #released(): void {
    if (!this.#holdTimer) return;
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
    this.#shared.observer.onHold(this.#chipid, false);
  }

  /** Passes the position on, if there is one. */
  #save(): void {
    const options = this.#options;
    if (this.#isClosed || !(options.save ?? options.saveLater)) return;
    const position = this.#engine.position();
    if (!position) return;
    try {
      options.saveLater?.(position);
      catchRejection(options.save?.(position()), (error) => this.#notSaved(error));
    } catch (error) {
      this.#notSaved(error);
    }
  }

  #notSaved(error: unknown): void {
    this.onFault(`the position could not be saved: ${textOf(error)}`, 'not saved');
  }

  #began(): void {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    this.#shared.observer.onRecovering(this.#chipid);
  }

  #ended(): void {
    if (!this.#isRecovering) return;
    this.#isRecovering = false;
    this.#shared.observer.onRecovered(this.#chipid, this.#replayed, this.#altered);
    this.#replayed = this.#altered = 0;
  }
}

interface ListeningDeps extends Omit<RecoveryShared, 'budgets' | 'facts' | 'limits'> {
  channels: Channels;
  /** What was learned of the histories of the application survives a restart. */
  store: Keeping;
}

const LEARNED = 'fact:history';

/** The listeners of an application. */
export class Listening implements RecoveryDeps {
  /** What recoveries share, so that others can read histories within the same limits. */
  readonly shared: RecoveryShared;
  readonly channels: Channels;
  readonly histories = new Map<string, DeviceHistory>();
  readonly #store: Keeping;

  constructor({ channels, store, ...shared }: ListeningDeps) {
    this.channels = channels;
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
    return this.channels.join(chipid, new IsolatedListener(listener));
  }

  /** As {@link listen} with recovery. */
  recover(chipid: string, listener: ChannelListener, options: ExactOptions): RecoveringChannel {
    return new Recovery(this, chipid, listener, options);
  }

  /** Ends every recovery, but closes no channel. */
  close(): void {
    this.#store.onMoved.delete(this.#restore);
    for (const history of this.histories.values()) history.close();
  }

  readonly #restore = (): void => {
    const learned = this.#store.get(LEARNED);
    if (isLearned(learned)) this.shared.facts.restore(learned);
  };
}
