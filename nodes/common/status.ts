import type { Node, NodeStatus } from 'node-red';
import { isDeviceCloudError, type RequestProgress } from '../../src/index';

/** What a node shows below itself. Texts are keys of its catalogue, since only the editor knows the language. */
export const STATUS = {
  none: {},
  calling: { fill: 'blue', shape: 'dot', text: 'status.calling' },
  awaitingReply: { fill: 'blue', shape: 'dot', text: 'status.awaiting-reply' },
  connecting: { fill: 'yellow', shape: 'ring', text: 'status.connecting' },
  connected: { fill: 'green', shape: 'dot', text: 'status.connected' },
  disconnected: { fill: 'red', shape: 'ring', text: 'status.disconnected' },
  unauthorized: { fill: 'red', shape: 'ring', text: 'status.unauthorized' },
  noDevices: { fill: 'grey', shape: 'ring', text: 'status.no-devices' },
} as const satisfies Record<string, NodeStatus>;

/** The status for a failure: its code in a word or two. */
export function failureStatus(error: unknown): NodeStatus {
  const code = isDeviceCloudError(error) ? error.code : 'ERROR';
  const key = code.toLowerCase().replaceAll('_', '-');
  return { fill: 'red', shape: 'ring', text: `status.${key}` };
}

/** Milliseconds between two changes of a status that may change very often. */
const INTERVAL = 100;

/** The status of a node. Only changes are sent, since each is a message to every open editor. */
export class StatusLine {
  readonly #node: Node;
  #shown = '';
  #closed = false;
  #pending: (() => NodeStatus) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(node: Node) {
    this.#node = node;
  }

  /** Shows a status now. */
  show(status: NodeStatus): void {
    this.#pending = undefined;
    const key = JSON.stringify(status);
    if (this.#closed || key === this.#shown) return;
    this.#shown = key;
    this.#node.status(status);
  }

  /** Shows what the function returns: now, or a moment later if the status has just changed. */
  update(status: () => NodeStatus): void {
    if (this.#closed) return;
    this.#pending = status;
    if (!this.#timer) this.#tick();
  }

  /** Shows nothing from now on. */
  close(): void {
    this.#closed = true;
    this.#pending = undefined;
    clearTimeout(this.#timer);
  }

  #tick(): void {
    this.#timer = undefined;
    const status = this.#pending;
    if (!status) return;
    this.#timer = setTimeout(() => this.#tick(), INTERVAL);
    this.show(status());
  }
}

/** The status of a node that makes calls: blue while any runs, red after a failure, nothing after a success. */
export class CallStatus {
  readonly #line: StatusLine;
  /** The calls that have not ended, and whether the reply is all that one waits for. */
  readonly #calls = new Map<symbol, boolean>();

  constructor(node: Node) {
    this.#line = new StatusLine(node);
  }

  /** @returns the call, for the other methods */
  begin(): symbol {
    const call = Symbol('call');
    this.#calls.set(call, false);
    this.#line.show(STATUS.calling);
    return call;
  }

  /** Says what a call waits for. */
  progress(call: symbol, { state }: RequestProgress): void {
    if (!this.#calls.has(call)) return;
    this.#calls.set(call, state === 'awaiting-reply');
    this.#showRunning();
  }

  succeed(call: symbol): void {
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#line.show(STATUS.none);
    else this.#showRunning();
  }

  /** A call that has succeeded may fail yet, when its messages are sent. */
  fail(call: symbol, error: unknown): void {
    this.#calls.delete(call);
    this.show(failureStatus(error));
  }

  /** Shows a status that no call has led to. */
  show(status: NodeStatus): void {
    this.#line.show(status);
  }

  /** Shows nothing from now on. */
  close(): void {
    this.#line.close();
  }

  #showRunning(): void {
    const isAwaiting = [...this.#calls.values()].every((awaitsReply) => awaitsReply);
    this.#line.show(isAwaiting ? STATUS.awaitingReply : STATUS.calling);
  }
}
