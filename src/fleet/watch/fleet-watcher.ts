import type { Upload } from '../../types';
import type { FleetDevice } from '../device';
import type { ListReading } from '../list-reading';

/**
 * Observes what happens to devices, after the registry has been updated. It is this package's own code: it
 * never throws. It may add and remove watchers.
 */
export interface FleetWatcher {
  /** A live upload, before the listeners of the channel get it. Never a replayed one. */
  onLive?(device: FleetDevice, upload: Upload): void;
  onReading?(reading: ListReading): void;
  /** A turn of the poller failed. */
  onReadError?(error: unknown): void;
  /** The state of its channel changed; null: it was closed, since its last listener has left. */
  onState?(device: FleetDevice): void;
  /** The first of its recoveries began. */
  onRecovering?(device: FleetDevice): void;
  /** The last of them ended. @param count the uploads that were recovered, each counted once */
  onRecovered?(device: FleetDevice, count: number): void;
}
