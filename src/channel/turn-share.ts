/**
 * Frames that the connections of an application may read before the event loop has to turn, besides one of each. On a
 * single channel, a turn for each frame takes a fifth of the CPU of an upload.
 */
const BEFORE_A_TURN = 16;

/** Says which frames are read in the turn of the one before, so that a flood neither stops timers nor other connections. */
export class TurnShare {
  private left = BEFORE_A_TURN;

  /** @returns whether one more frame may be read before the event loop turns */
  acquire(): boolean {
    if (this.left === 0) return false;
    if (--this.left === 0) setImmediate(() => (this.left = BEFORE_A_TURN));
    return true;
  }
}
