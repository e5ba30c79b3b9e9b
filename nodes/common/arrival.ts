import type { NodeMessage, NodeMessageInFlow } from 'node-red';
import type { RequestProgress } from '../../src/index';

export type Send = (msg: NodeMessage | NodeMessage[][]) => void;
export type Done = (error?: Error) => void;

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
