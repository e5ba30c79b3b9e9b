import type { Node, NodeStatus } from 'node-red';
import type { RequestProgress } from '../../src/index';
import { failureStatus, STATUS, StatusLine } from './status';

/** Milliseconds that a failure is shown while other calls go on. */
const FAILURE_SHOWN = 2000;

/** The most commands ahead that a status counts. */
const MAX_AHEAD = 99;

/**
 * The status of a call that waits for the commands before it. The editor puts no values into the text of a
 * status, so the build makes a text of the catalogue for each number.
 */
export function waitingStatus(ahead: number): NodeStatus {
  if (ahead < 1) return STATUS.waiting;
  const text = `status.waiting-${ahead > MAX_AHEAD ? 'more' : ahead}`;
  return { ...STATUS.waiting, text };
}

/** What several calls wait for, in one status: a call that runs says most, then the shortest queue. */
function statusOf(calls: Iterable<RequestProgress | undefined>): NodeStatus {
  let ahead = Infinity;
  let awaited: NodeStatus | undefined;
  for (const progress of calls) {
    if (progress?.state === 'calling') return STATUS.calling;
    if (progress?.state === 'waiting') ahead = Math.min(ahead, progress.ahead);
    if (progress?.state === 'awaiting-device') awaited ??= STATUS.awaitingDevice;
    if (progress?.state === 'awaiting-cluster') awaited ??= STATUS.awaitingCluster;
    if (progress?.state === 'awaiting-reply') awaited = STATUS.awaitingReply;
  }
  if (ahead < Infinity) return waitingStatus(ahead);
  return awaited ?? STATUS.calling;
}

/** The status of a node that makes calls: blue while any runs or waits, red after a failure, nothing after a success. */
export class CallStatus {
  readonly #line: StatusLine;
  /** The calls that have not ended, and what each waits for once it is known. */
  readonly #calls = new Map<symbol, RequestProgress | undefined>();
  readonly #status = (): NodeStatus => statusOf(this.#calls.values());
  /** Shows the calls that continue, some time after one has failed. */
  #afterFailure: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(node: Node) {
    this.#line = new StatusLine(node);
  }

  /** @returns the call, for the other methods */
  begin(): symbol {
    const call = Symbol('call');
    this.#calls.set(call, undefined);
    if (this.#calls.size === 1) this.#line.show(STATUS.calling);
    else this.#line.updateLater(this.#status);
    return call;
  }

  /** Says what a call waits for. Most calls end before it is shown. */
  progress(call: symbol, progress: RequestProgress): void {
    if (!this.#calls.has(call)) return;
    this.#calls.set(call, progress);
    this.#line.updateLater(this.#status);
  }

  succeed(call: symbol): void {
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#line.show(STATUS.none);
    else this.#line.updateLater(this.#status);
  }

  /** A call that has succeeded may fail yet, when its messages are sent. */
  fail(call: symbol, error: unknown): void {
    this.#calls.delete(call);
    this.show(failureStatus(error));
    clearTimeout(this.#afterFailure);
    // Those that a close aborts fail after it.
    if (this.#isClosed || this.#calls.size === 0) return;
    this.#afterFailure = setTimeout(() => {
      if (this.#calls.size > 0) this.#line.updateLater(this.#status);
    }, FAILURE_SHOWN);
  }

  /** Shows a status that no call has led to. */
  show(status: NodeStatus): void {
    this.#line.show(status);
  }

  /** Shows nothing from now on. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#afterFailure);
    this.#line.close();
  }
}
