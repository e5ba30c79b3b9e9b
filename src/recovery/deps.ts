import type { Upload } from '../channel/frames';
import type { Accounts } from './account';
import type { EncodingSetting, HistoryFacts } from './facts';
import type { Position } from './position';
import type { Limits } from './timing';
import type { Turns } from './turns';

/** What the recoveries of an application share. */
export interface RecoveryShared {
  appid: string;
  /** Reads the history of a device. */
  read: (chipid: string, signal: AbortSignal) => Promise<readonly unknown[]>;
  turns: Pick<Turns, 'wait' | 'leave' | 'release'>;
  accounts: Accounts;
  facts: HistoryFacts;
  limits: Limits;
  now: () => number;
  random: () => number;
}

/** The device of a recovery, and who listens to it. */
export interface RecoveryDevice {
  chipid: string;
  encoding: EncodingSetting;
  /** Milliseconds that the history's times are said to be ahead of UTC. */
  zone: number;
  /** Where an earlier run left off. */
  start: Position | undefined;
  /** Calls back when everything that the peer sent before has arrived, or its connection has ended. */
  flush(passed: () => void): void;
  emit(upload: Upload): void;
  /** Something kept uploads from being recovered. @param kind the same for all of a kind */
  fault(text: string, kind: string): void;
  /** Whether `save` is to be called. */
  readonly saves: boolean;
  /** Is called with how far the uploads have been emitted, after each one. */
  save(position: Position): void;
}
