import type { Node, NodeStatus } from 'node-red';
import { isDeviceCloudError, type RequestProgress } from '../../src/index';
import type { ClusterView } from './app';

/** What a node shows below itself. Texts are keys of its catalogue, since only the editor knows the language. */
export const STATUS = {
  none: {},
  calling: { fill: 'blue', shape: 'dot', text: 'status.calling' },
  waiting: { fill: 'blue', shape: 'dot', text: 'status.waiting' },
  awaitingDevice: { fill: 'blue', shape: 'dot', text: 'status.awaiting-device' },
  awaitingReply: { fill: 'blue', shape: 'dot', text: 'status.awaiting-reply' },
  connecting: { fill: 'yellow', shape: 'ring', text: 'status.connecting' },
  connected: { fill: 'green', shape: 'dot', text: 'status.connected' },
  disconnected: { fill: 'red', shape: 'ring', text: 'status.disconnected' },
  unauthorized: { fill: 'red', shape: 'ring', text: 'status.unauthorized' },
  notKept: { fill: 'yellow', shape: 'dot', text: 'status.not-kept' },
  joining: { fill: 'yellow', shape: 'ring', text: 'status.joining-cluster' },
  awaitingCluster: { fill: 'yellow', shape: 'ring', text: 'status.awaiting-cluster' },
  checkCluster: { fill: 'red', shape: 'ring', text: 'status.check-cluster' },
  elsewhere: { fill: 'grey', shape: 'dot', text: 'status.elsewhere' },
  noDevices: { fill: 'grey', shape: 'ring', text: 'status.no-devices' },
} as const satisfies Record<string, NodeStatus>;

/** What a node shows while the processes that share its devices cannot do their part; undefined if they can. */
export function clusterStatus(cluster: ClusterView | undefined): NodeStatus | undefined {
  if (cluster?.state === 'joining') return STATUS.joining;
  if (cluster?.state === 'refused') return STATUS.checkCluster;
  return cluster?.state === 'awaiting' ? STATUS.awaitingCluster : undefined;
}

/** The status for a failure: its code in a word or two. */
export function failureStatus(error: unknown): NodeStatus {
  const code = isDeviceCloudError(error) ? error.code : 'ERROR';
  // With its number, by which it is found in the service's own words.
  const isGateway = isDeviceCloudError(error, 'GATEWAY') && error.statusCode !== undefined;
  const key = isGateway ? `gateway-${error.statusCode}` : code.toLowerCase().replaceAll('_', '-');
  return { fill: 'red', shape: 'ring', text: `status.${key}` };
}

/** Milliseconds between two changes of a status that may change very often. */
const INTERVAL = 100;

/** The status of a node. Only changes are sent, since each is a message to every open editor. */
export class StatusLine {
  readonly #node: Node;
  #shown = '';
  #closed = false;
  #pending: (() => NodeStatus | undefined) | undefined;
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

  /** Shows what the function returns, if anything: now, or a moment later if the status has just changed. */
  update(status: () => NodeStatus | undefined): void {
    if (this.#closed) return;
    this.#pending = status;
    if (!this.#timer) this.#tick();
  }

  /** Shows what the function returns, a moment later: what lasts no longer than that is never shown. */
  updateLater(status: () => NodeStatus): void {
    if (this.#closed) return;
    this.#pending = status;
    this.#timer ??= setTimeout(() => this.#tick(), INTERVAL);
  }

  /** Shows nothing from now on. */
  close(): void {
    this.#closed = true;
    this.#pending = undefined;
    clearTimeout(this.#timer);
  }

  #tick(): void {
    this.#timer = undefined;
    const status = this.#pending?.();
    if (!status) return;
    this.#timer = setTimeout(() => this.#tick(), INTERVAL);
    this.show(status);
  }
}

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

/** A call, and what it waits for once that is known. */
interface ShownCall {
  /** Whether it has begun and has not ended. */
  isShown: boolean;
  progress: RequestProgress | undefined;
  /** Whether it awaits its device, and is lost if the process ends. */
  readonly isUnkept: boolean;
}

/** What several calls wait for, in one status: a call that runs says most, then the shortest queue. */
function statusOf(calls: Iterable<ShownCall>): NodeStatus {
  let ahead = Infinity;
  let awaited: NodeStatus | undefined;
  for (const { isShown, progress, isUnkept } of calls) {
    if (!isShown) continue;
    if (progress?.state === 'calling') return STATUS.calling;
    if (progress?.state === 'waiting') ahead = Math.min(ahead, progress.ahead);
    if (isUnkept) awaited = STATUS.notKept;
    else if (progress?.state === 'awaiting-device') awaited ??= STATUS.awaitingDevice;
    if (progress?.state === 'awaiting-reply') awaited = STATUS.awaitingReply;
  }
  if (ahead < Infinity) return waitingStatus(ahead);
  return awaited ?? STATUS.calling;
}

/** The status of a node that makes calls: blue while any runs or waits, red after a failure, nothing after a success. */
export class CallStatus {
  readonly #line: StatusLine;
  /** How many are shown. */
  #shown = 0;
  readonly #status: () => NodeStatus;
  /** Shows the calls that continue, some time after one has failed. */
  #afterFailure: NodeJS.Timeout | undefined;
  #idle: () => NodeStatus = () => STATUS.none;

  /** @param calls all that may be shown now */
  constructor(node: Node, calls: Iterable<ShownCall>) {
    this.#line = new StatusLine(node);
    this.#status = () => statusOf(calls);
  }

  /** Shows a status while no call runs. */
  showIdle(status: () => NodeStatus): void {
    this.#idle = status;
    if (this.#shown === 0) this.#line.update(status);
  }

  begin(call: ShownCall): void {
    call.isShown = true;
    if (++this.#shown === 1) this.#line.show(STATUS.calling);
    else this.#line.updateLater(this.#status);
  }

  /** Says what a call waits for. Most calls end before it is shown. */
  progress(call: ShownCall, progress: RequestProgress): void {
    if (!call.isShown) return;
    call.progress = progress;
    this.#line.updateLater(this.#status);
  }

  /** A call may be kept by now, or no more. */
  refresh(): void {
    if (this.#shown > 0) this.#line.updateLater(this.#status);
  }

  succeed(call: ShownCall): void {
    this.#end(call);
    if (this.#shown === 0) this.#line.show(this.#idle());
    else this.#line.updateLater(this.#status);
  }

  /** A call that has succeeded may fail yet, when its messages are sent. */
  fail(call: ShownCall, error: unknown): void {
    this.#end(call);
    this.show(failureStatus(error));
    clearTimeout(this.#afterFailure);
    if (this.#shown > 0)
      this.#afterFailure = setTimeout(() => this.refresh(), FAILURE_SHOWN).unref();
  }

  /** Shows a status that no call has led to. */
  show(status: NodeStatus): void {
    this.#line.show(status);
  }

  /** Shows nothing from now on. */
  close(): void {
    clearTimeout(this.#afterFailure);
    this.#line.close();
  }

  #end(call: ShownCall): void {
    if (call.isShown) this.#shown--;
    call.isShown = false;
  }
}
