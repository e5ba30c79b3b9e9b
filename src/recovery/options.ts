import type { HistoryFormSetting } from '../history/form';
import type { Position } from './position';

/** How uploads are recovered that a channel missed. */
export interface RecoverOptions {
  /**
   * How the service writes `body` in history records. `auto` (default) learns it from uploads that came
   * both ways, live and from the history.
   */
  encoding?: HistoryFormSetting | undefined;
  /**
   * The time zone of the history's times: an offset such as `+08:00`, or `auto` (default), which learns it from
   * uploads that came both ways, and is `+08:00` until then.
   */
  zone?: string | undefined;
  /** Where an earlier listener stopped; default: nothing that was uploaded before the first connection is recovered. */
  start?: Position | undefined;
  /**
   * Called after each upload with the position up to which they have been emitted, to be kept for `start`. A loop waits
   * for the promise that it returns, if any.
   */
  save?: (position: Position) => unknown;
  /**
   * If several processes share the device: `here` (default) calls the listener; `queue` appends each upload to their
   * queue, for {@link ClusterMember.work}, in one step with its position, and does not call `onUpload`. All listeners of
   * a device have one position.
   */
  deliver?: Deliver | undefined;
}

/** Where the uploads of a device go if several processes share it: see {@link RecoverOptions}. */
export type Deliver = 'here' | 'queue';
