import type { Node, NodeStatus } from 'node-red';
import { isDeviceCloudError, type ClusterMember } from '../../src/index';

/** What a node shows below itself. Texts are keys of its catalogue, since only the editor knows the language. */
export const STATUS = {
  none: {},
  calling: { fill: 'blue', shape: 'dot', text: 'status.calling' },
  waiting: { fill: 'blue', shape: 'dot', text: 'status.waiting' },
  awaitingDevice: { fill: 'blue', shape: 'dot', text: 'status.awaiting-device' },
  awaitingCluster: { fill: 'blue', shape: 'dot', text: 'status.awaiting-cluster' },
  awaitingReply: { fill: 'blue', shape: 'dot', text: 'status.awaiting-reply' },
  connecting: { fill: 'yellow', shape: 'ring', text: 'status.connecting' },
  connected: { fill: 'green', shape: 'dot', text: 'status.connected' },
  disconnected: { fill: 'red', shape: 'ring', text: 'status.disconnected' },
  unauthorized: { fill: 'red', shape: 'ring', text: 'status.unauthorized' },
  clusterAway: { fill: 'yellow', shape: 'ring', text: 'status.awaiting-cluster' },
  clusterPassword: { fill: 'red', shape: 'ring', text: 'status.cluster-password' },
  clusterRights: { fill: 'red', shape: 'ring', text: 'status.cluster-rights' },
  clusterTls: { fill: 'red', shape: 'ring', text: 'status.cluster-tls' },
  elsewhere: { fill: 'grey', shape: 'dot' },
  noDevices: { fill: 'grey', shape: 'ring', text: 'status.no-devices' },
} as const satisfies Record<string, NodeStatus>;

/** The status of a node whose process may not act for its devices: why, if a setting has to be changed. */
export function clusterStatus({ problem }: Pick<ClusterMember, 'problem'>): NodeStatus {
  if (problem?.setting === 'password') return STATUS.clusterPassword;
  if (problem?.setting === 'rights') return STATUS.clusterRights;
  return problem ? STATUS.clusterTls : STATUS.clusterAway;
}

/** The status for a failure: its code in a word or two. */
export function failureStatus(error: unknown): NodeStatus {
  if (isDeviceCloudError(error) && error.missingPackage === 'ioredis')
    return { fill: 'red', shape: 'ring', text: 'status.install-ioredis' };
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
    const status = this.#pending;
    if (!status) return;
    this.#timer = setTimeout(() => this.#tick(), INTERVAL);
    this.show(status());
  }
}
