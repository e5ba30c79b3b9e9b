import { slotOf } from './slots';
import type { DeviceOwners } from './types';

/** How long an answer is reused, in ms: whatever shows it requests it again and again. */
const FRESH = 2000;

/** Reads which process holds which slot. Calls within a short time share an answer. */
export class OwnersReader {
  private reading: Promise<DeviceOwners> | undefined;
  private readAt = -Infinity;

  constructor(
    private readonly read: () => Promise<ReadonlyMap<number, string>>,
    private readonly monotonic: () => number,
  ) {}

  /** @throws StoreError */
  get(): Promise<DeviceOwners> {
    const now = this.monotonic();
    if (!this.reading || now - this.readAt >= FRESH) {
      this.readAt = now;
      this.reading = this.read().then((owners) => ({
        of: (chipid) => owners.get(slotOf(chipid)),
      }));
      this.reading.catch(() => (this.reading = undefined));
    }
    return this.reading;
  }
}
