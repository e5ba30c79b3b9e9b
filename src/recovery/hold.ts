import type { Upload } from '../types';
import type { Budget } from './reading/budget';
import { MAX_HOLD, type Limits } from './timing';
import { weighUpload } from './reading/weight';

/**
 * Limits what is held back of one device while its history is read: the number of uploads, their bytes, those of all
 * devices of the application, and the time.
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

  /** Counts an upload. @returns false, without counting it, if it exceeds a limit */
  add(upload: Upload): boolean {
    const weight = weighUpload(upload);
    const fits = this.count < this.limits.held && this.bytes + weight <= this.limits.heldBytes;
    if (!fits || !this.budget.reserve(weight)) return false;
    this.count++;
    this.bytes += weight;
    return true;
  }

  /** Nothing is held back any longer. */
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
