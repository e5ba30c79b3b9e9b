import type { WebSocket } from 'ws';

/**
 * Frames that all connections of this process may read before the event loop has to turn, besides one of
 * each. On a single channel, a turn for each frame takes a fifth of the CPU of an upload.
 */
const BEFORE_A_TURN = 16;

let left = BEFORE_A_TURN;

function turned(): void {
  left = BEFORE_A_TURN;
}

function takeOne(): boolean {
  if (left === 0) return false;
  if (--left === 0) setImmediate(turned);
  return true;
}

/** Fields of ws that its types do not have. */
interface WithReceiver {
  readonly _receiver?: { _allowSynchronousEvents?: boolean };
}

/**
 * Lets a connection read its next frame in this turn of the event loop, if few have been read in it. ws has
 * an option for all frames or none, which its receiver looks up for each. If a later version does not, one
 * frame is read in each turn.
 */
export function readOn(socket: WebSocket): void {
  const { _receiver: receiver } = socket as unknown as WithReceiver;
  if (receiver) receiver._allowSynchronousEvents = takeOne();
}
