import type { NodeMessage, NodeMessageInFlow } from 'node-red';
import type { RequestProgress } from '../../src/index';

export type Send = (msg: NodeMessage | NodeMessage[][]) => void;
export type Done = (error?: Error) => void;

/**
 * Removes properties of a message and sets others.
 * @returns the message, or a copy if it cannot be changed: a function node may have frozen it
 */
export function withFields(
  msg: NodeMessage,
  remove: readonly string[],
  set: Readonly<Record<string, unknown>>,
): NodeMessage {
  try {
    if (remove.every((name) => Reflect.deleteProperty(msg, name))) return Object.assign(msg, set);
  } catch {
    // A copy can be changed.
  }
  return Object.assign(copyOf(msg, remove), set);
}

function copyOf(msg: NodeMessage, without: readonly string[]): NodeMessage {
  try {
    return Object.fromEntries(Object.entries(msg).filter(([name]) => !without.includes(name)));
  } catch {
    // A getter throws: without it, what the call has done can still be passed on.
    return msg._msgid === undefined ? {} : { _msgid: msg._msgid };
  }
}

/** A message from its arrival to its one `done`. A class with plain fields, since there may be thousands. */
export class Arrival {
  /** What its call waits for, once that is known. */
  progress: RequestProgress | undefined;
  /** Whether reading its inputs has begun; false while a sequential node makes it wait. */
  hasBegun = false;
  isOver = false;
  /** Lets the next message of a sequential node begin. */
  onOver: (() => void) | undefined;

  constructor(
    readonly msg: NodeMessageInFlow,
    readonly send: Send,
    readonly done: Done,
  ) {}
}
