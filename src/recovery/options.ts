import type { ChannelSubscription } from '../channel/listener';
import type { ServiceLimiter } from '../http/service-limiter';
import type { Keeping } from '../store/store';
import type { Upload } from '../types';
import type { Guard } from '../util/guard';
import type { HistoryFacts } from './facts';
import type { Budgets, LIMITS } from './limits';
import type { Position } from './position';
import type { StreamHistory } from './reader';

/** How uploads are recovered that a channel missed. */
export interface RecoverOptions {
  /**
   * The time zone of the history's times: an offset such as `+08:00`, or `auto` (default), which learns it from
   * uploads that came both ways, and is `+08:00` until then.
   */
  zone?: string | undefined;
  /** Where an earlier listener stopped; default: nothing that was uploaded before the first connection is recovered. */
  start?: Position | undefined;
  /**
   * Called after each upload with the position up to which they have been emitted, to be kept for `start`.
   */
  save?: (position: Position) => unknown;
  /**
   * Called after each upload with a function that returns the position of that moment: making one costs time, which a
   * listener that saves only some of them need not spend.
   */
  saveLater?: (position: () => Position) => void;
}

/** Of a listener that moves its position itself. */
export interface ExactOptions extends RecoverOptions {
  /** Called before each upload with the position of that moment: all before it has been emitted. */
  saveBefore?: (position: () => Position) => void;
}

/** A subscription with recovery, as the parts of the application hold it. */
export interface RecoveringChannel extends ChannelSubscription {
  /**
   * Whether everything up to now has been emitted, so that whatever is replayed from now on was uploaded later. It may
   * change when the option `save` is called, or the channel's state changes.
   */
  readonly isComplete: boolean;
}

/** An upload of a listener that acknowledges. */
export interface WaitingUpload extends Upload {
  /** Acknowledges it; undefined if it need not be. */
  ack?: string;
  /** Set if it was, or may have been, emitted before. */
  redelivered?: true;
  /** It was emitted as often as it may, and never acknowledged: the next one follows. */
  isGivenUp?: true;
}

/** How uploads are acknowledged. */
export interface AckOptions {
  /** The id of the listener: it goes on where another with this id has stopped. */
  readonly node: string;
  /** Milliseconds until an upload is emitted again. */
  readonly redeliver: number;
  /** How often an upload is emitted at most. */
  readonly attempts: number;
  /** Where positions are kept instead of in the client's store. */
  readonly memory?: Keeping | undefined;
}

export interface AckSubscription extends ChannelSubscription {
  /** For how long an upload has waited, in milliseconds; undefined if none waits. */
  readonly waitedFor: number | undefined;
  /** There is a position to go back to. */
  readonly hasPosition: boolean;
  /** @param isForgotten the device is removed: its position is not needed any more */
  release(isForgotten?: boolean): void;
}

/**
 * Watches all recoveries of an application: a device has one for each listener with recovery. It is this package's
 * own code, and never throws.
 */
export interface RecoveryObserver {
  /** A recovery begins to read the history after a gap. */
  onRecovering(chipid: string): void;
  /** Live uploads are held back for older ones, or no longer. */
  onHold(chipid: string, isHolding: boolean): void;
  /**
   * An upload that was missed or held back is being emitted. Called before the listener receives it.
   * @param isLast of those that an answer gives back
   */
  onEmitted(upload: Upload, isLast: boolean): void;
  /** An upload begins to wait for its acknowledgement, or no longer does. */
  onWaiting?(): void;
  /** A recovery has ended. @param count the missed uploads that it emitted @param altered how many of them are marked so */
  onRecovered(chipid: string, count: number, altered: number): void;
}

/** What the recoveries of an application share. */
export interface RecoveryShared {
  appid: string;
  read: StreamHistory;
  limiter: Pick<ServiceLimiter, 'acquire' | 'pause'>;
  budgets: Budgets;
  facts: HistoryFacts;
  limits: typeof LIMITS;
  observer: RecoveryObserver;
  guard?: Guard;
  now: () => number;
  random: () => number;
}
