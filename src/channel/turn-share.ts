/**
 * Frames that the connections of an application may read before the event loop has to turn, besides one of each. On a
 * single channel, a turn for each frame would cost a fifth of the CPU time of an upload.
 */
const BEFORE_A_TURN = 16;

/** Decides which frames are read in the same turn as the one before, so that a flood stops neither timers nor other connections. */
export class TurnShare {
  private left = BEFORE_A_TURN;

  /** @returns whether one more frame may be read before the event loop turns */
  acquire(): boolean {
    if (this.left === 0) return false;
    if (--this.left === 0) setImmediate(() => (this.left = BEFORE_A_TURN));
    return true;
  }
}
