import type { Upload } from '../channel/frames';
import type { Budget } from './budget';
import { MAX_HOLD, type Limits } from './timing';
import { weighUpload } from './weight';

/**
 * Bounds the live uploads of one device that are held back while its history is read: in number, in
 * bytes, of the device and of its application, and in time.
 */
export class Hold {
  private count = 0;
  private bytes = 0;
  private readonly timer: NodeJS.Timeout;

  /** @param expired is called if the history could not be read in time */
  constructor(
    private readonly limits: Limits,
    private readonly budget: Budget,
    expired: () => void,
  ) {
    this.timer = setTimeout(expired, MAX_HOLD);
  }

  /** Counts an upload. @returns false, without counting it, if it is one too many or too large */
  add(upload: Upload): boolean {
    const weight = weighUpload(upload);
    const fits = this.count < this.limits.held && this.bytes + weight <= this.limits.heldBytes;
    if (!fits || !this.budget.reserve(weight)) return false;
    this.count++;
    this.bytes += weight;
    return true;
  }

  /** What is counted is held no longer. */
  clear(): void {
    this.budget.release(this.bytes);
    this.count = 0;
    this.bytes = 0;
  }

  end(): void {
    clearTimeout(this.timer);
    this.clear();
  }
}
