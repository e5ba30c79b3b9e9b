import type { Node, NodeAPI } from 'node-red';
import {
  isDeviceCloudError,
  type ClusterJob,
  type ClusterMember,
  type Datatype,
  type DeviceCloudClient,
} from '../../src/for-nodes';
import { parseDatatype } from '../../src/input';
import { findApp, type App } from '../common/app';
import { addRow, nameOf } from '../common/device-call';
import { DeviceTypes } from '../common/device-types';
import { messageOf, noQueue } from '../common/errors';
import { FaultLog } from '../common/fault-log';
import type { Runtime } from '../common/action';
import { choiceOf } from '../common/settings';
import { withDefaults } from '../common/shared.config';
import { clusterStatus, failureStatus, STATUS, StatusLine } from '../common/status';
import { uploadMessage, type UploadMessage } from '../common/upload-message';
import { DEFAULTS, type WorkConfig } from './work.config';

/** Milliseconds until a node that could not start tries again: the other node that works on the queue may be removed. */
const RETRY = 1000;

/** The life of a work node: it works on the queue once its application has joined the cluster, until it closes. */
class WorkLife {
  readonly #node: Node;
  readonly #config: WorkConfig;
  readonly #app: App;
  readonly #status: StatusLine;
  readonly #types: DeviceTypes;
  readonly #log = new FaultLog((line) => this.#node.warn(line));
  #client: DeviceCloudClient | undefined;
  #datatype: Datatype = 'auto-detect';
  #waitsForAck = false;
  #ends: (() => void)[] = [];
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(RED: NodeAPI, node: Node, config: WorkConfig) {
    this.#node = node;
    this.#config = config;
    this.#app = findApp(RED, config.app);
    this.#status = new StatusLine(node);
    this.#types = new DeviceTypes(RED, config.deviceType, (line) => node.warn(line));
    this.#app.join(node);
    void this.#start();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#status.close();
    for (const end of this.#ends) end();
    this.#log.close();
    this.#app.leave(this.#node);
  }

  /** Never rejects. */
  async #start(): Promise<void> {
    try {
      const { acknowledge, datatype } = this.#config;
      this.#waitsForAck = choiceOf(acknowledge, 'acknowledge', ['sent', 'ack']) === 'ack';
      this.#datatype = parseDatatype(datatype);
      const client = await this.#app.client('open');
      if (this.#isClosed) return;
      if (!client.cluster) throw noQueue();
      this.#client = client;
      this.#work(client.cluster);
    } catch (error) {
      if (this.#isClosed) return;
      this.#failed(error);
      if (this.#app.problem('open') || isDeviceCloudError(error, 'INVALID_INPUT')) return;
      this.#retry = setTimeout(() => void this.#start(), RETRY);
    }
  }

  #work(cluster: ClusterMember): void {
    const { inFlight, redeliver, attempts } = this.#config;
    const showState = (): void =>
      this.#status.show(cluster.state === 'member' ? STATUS.connected : clusterStatus(cluster));
    const end = cluster.work({
      inFlight: Number(inFlight),
      redeliver: 1000 * Number(redeliver),
      attempts: Number(attempts),
      deliver: (job) => this.#deliver(cluster, job),
    });
    const leave = cluster.listen({
      onState: showState,
      onProblem: showState,
    });
    this.#ends = [end, leave];
    showState();
  }

  #deliver(cluster: ClusterMember, job: ClusterJob): void {
    const { upload } = job;
    const { charset } = this.#app;
    const name = this.#client && nameOf(this.#client, upload.chipid);
    const type = this.#types.of(this.#client, upload.chipid);
    const decoded = uploadMessage(upload, { datatype: this.#datatype, charset, type }, name);
    if (!(decoded instanceof Promise)) this.#emit(cluster, job, decoded);
    else
      decoded
        // Once the node is closed it is delivered again, elsewhere or later.
        .then((message) => (this.#isClosed ? undefined : this.#emit(cluster, job, message)))
        .catch((error: unknown) => this.#failed(error));
  }

  #emit(
    cluster: ClusterMember,
    { token, upload, redelivered }: ClusterJob,
    { message, error }: UploadMessage,
  ): void {
    addRow(message, this.#client, upload.chipid);
    if (this.#waitsForAck) message['ack'] = token;
    if (redelivered) message['redelivered'] = true;
    try {
      if (error) this.#node.error(error, message);
      else this.#node.send(message);
    } finally {
      if (!this.#waitsForAck) {
        // It is delivered again.
        cluster.acknowledge(token).catch((failure: unknown) => this.#failed(failure));
      }
    }
  }

  #failed(error: unknown): void {
    const message = messageOf(error);
    this.#log.write(message, message);
    if (this.#ends.length === 0) this.#status.show(failureStatus(error));
  }
}

/** Emits the uploads of the cluster's queue that this process handles. */
export const runtime: Runtime<WorkConfig> = (RED) => (node, def) => {
  const life = new WorkLife(RED, node, withDefaults<WorkConfig>(def, DEFAULTS));
  node.on('close', () => life.close());
};
