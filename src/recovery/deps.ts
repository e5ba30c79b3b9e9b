import type { IsolatedListener } from '../channel/listener';
import type { HistoryFacts, HistoryFormSetting } from '../history/form';
import type { StreamHistory } from '../history/stream-history';
import type { Upload } from '../types';
import type { Budgets, Limits } from './limits';
import type { Position } from './position';
import type { ReadLimiter } from '../history/read-limiter';

/**
 * Watches all recoveries of an application: a device has one for each listener with recovery. It is this package's
 * own code, and never throws.
 */
export interface RecoveryObserver {
  /** A recovery begins to read the history after a gap. */
  onRecovering(chipid: string): void;
  /** Missed uploads are being emitted; this is the last of them. Called before the listener receives it. */
  onReplayed(upload: Upload): void;
  /** A recovery has ended. @param count the missed uploads that it emitted */
  onRecovered(chipid: string, count: number): void;
}

/** What the recoveries of an application share. */
export interface RecoveryShared {
  appid: string;
  read: StreamHistory;
  limiter: Pick<ReadLimiter, 'acquire' | 'cancel' | 'isFailing'>;
  budgets: Budgets;
  facts: HistoryFacts;
  limits: Limits;
  observer?: RecoveryObserver | undefined;
  now: () => number;
  random: () => number;
}

/** Receives live and missed uploads, states and faults; no callback throws. */
export type Recipient = Pick<IsolatedListener, 'onUpload' | 'onState' | 'onFault' | 'onGap'>;

/** The device of a recovery, and its listener. */
export interface RecoveryDevice {
  readonly chipid: string;
  readonly encoding: HistoryFormSetting;
  /** Milliseconds that the history's times are ahead of UTC; undefined if that is to be learned. */
  readonly zone: number | undefined;
  /** Where an earlier run left off. */
  readonly start: Position | undefined;
  readonly listener: Recipient;
  /** Calls `flushed` when everything that the peer has sent so far has arrived, or its connection has ended. */
  flush(flushed: () => void): void;
  /**
   * Whether another process may continue from the position. If so, nothing is emitted before there is one, unless the
   * history cannot be read.
   */
  readonly isShared?: boolean;
  /** Whether `save` is to be called. */
  readonly saves: boolean;
  /** Called with the position after each upload that was emitted. @returns perhaps a promise */
  save(position: Position): unknown;
}
