import type { IsolatedListener } from '../channel/isolated-listener';
import type { Upload } from '../channel/frames';
import type { Budgets } from './budget';
import type { EncodingSetting, HistoryFacts } from './facts';
import type { Position } from './position';
import type { Limits } from './timing';
import type { ReadHistory } from './read-history';
import type { ReadLimiter } from './read-limiter';

/**
 * Watches all recoveries of an application, of which a device has one for each listener that wants what it
 * missed. It is this package's own code: it never throws.
 */
export interface RecoveryObserver {
  /** A recovery begins to read the history after a gap. */
  onRecovering(chipid: string): void;
  /** Missed uploads are given back; this is the last of them. Called before the listener gets it. */
  onReplayed(upload: Upload): void;
  /** A recovery that began has ended. @param count the uploads that it gave back */
  onRecovered(chipid: string, count: number): void;
}

/** What the recoveries of an application share. */
export interface RecoveryShared {
  appid: string;
  read: ReadHistory;
  limiter: Pick<ReadLimiter, 'acquire' | 'cancel' | 'isFailing'>;
  budgets: Budgets;
  facts: HistoryFacts;
  limits: Limits;
  observer?: RecoveryObserver | undefined;
  now: () => number;
  random: () => number;
}

/** Where live and missed uploads go, with states and faults; no callback throws. */
export type Recipient = Pick<IsolatedListener, 'onUpload' | 'onState' | 'onFault' | 'onGap'>;

/** The device of a recovery, and who listens to it. */
export interface RecoveryDevice {
  readonly chipid: string;
  readonly encoding: EncodingSetting;
  /** Milliseconds that the history's times are said to be ahead of UTC. */
  readonly zone: number;
  /** Where an earlier run left off. */
  readonly start: Position | undefined;
  readonly listener: Recipient;
  /** Calls back when everything that the peer sent before has arrived, or its connection has ended. */
  flush(flushed: () => void): void;
  /**
   * Whether another process may go on from the position: nothing is emitted before there is one, unless the history
   * cannot be read.
   */
  readonly isShared?: boolean;
  /** Whether `save` is to be called. */
  readonly saves: boolean;
  /** Is called with how far the uploads have been emitted, after each one. @returns perhaps a promise */
  save(position: Position): unknown;
}
