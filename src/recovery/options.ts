import type { EncodingSetting } from './facts';
import type { Position } from './position';

/** How uploads that a channel missed are given back. */
export interface RecoverOptions {
  /**
   * How the service writes `body` in history records. `auto` (default) learns it from uploads that came
   * both ways, live and from the history.
   */
  encoding?: EncodingSetting | undefined;
  /** The time zone of the history's times, an offset such as `+08:00` (default). */
  zone?: string | undefined;
  /** Where an earlier listener left off; default: what came before the first connection is not owed. */
  start?: Position | undefined;
  /** Is told after each upload how far they have been emitted, to be kept for `start`. */
  save?: (position: Position) => void;
}
