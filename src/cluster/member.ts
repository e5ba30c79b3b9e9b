import { DeviceCloudError, invalidInput } from '../errors';
import { isolated } from '../util/thrown';
import { oneLine, show } from '../util/show';
import { systemClock } from './clock';
import { Cluster, type ClusterListener, type ClusterOptions, type ClusterState } from './cluster';
import type { ClusterProblem } from './engine-faults';
import { OwnersReader } from './owners';
import { StoreError, type QueueState, type StoreInfo } from './store';
import type { ClusterJob, ClusterMember, ClusterWork, DeviceOwners } from './types';
import { uploadFromText } from './upload-text';
import { isToken, type Job } from './worker';

const MOST = { inFlight: 10_000, redeliver: 86_400, attempts: 1000 };

/** The most characters of an error's reason that are repeated. */
const MAX_REASON = 300;

/** A membership as callers see it: checks their input, and fails with the errors of the package. */
export class Member implements ClusterMember {
  /** What clients use. */
  readonly cluster: Cluster;
  readonly #store: ClusterOptions['store'];
  readonly #owners: OwnersReader;
  #working = false;
  #closing: Promise<void> | undefined;

  constructor(options: ClusterOptions) {
    const { store, clock = systemClock } = options;
    this.cluster = new Cluster(options);
    this.#store = store;
    this.#owners = new OwnersReader(
      () => store.owners(),
      () => clock.monotonic(),
    );
    this.cluster.start();
  }

  get member(): string {
    return this.cluster.member;
  }

  get members(): readonly string[] {
    return this.cluster.members;
  }

  get problem(): ClusterProblem | undefined {
    return this.cluster.problem;
  }

  get state(): ClusterState {
    return this.cluster.state;
  }

  listen(listener: ClusterListener): () => void {
    if (typeof listener !== 'object' || (listener as unknown) === null)
      throw invalidInput(`A listener of a cluster must be an object, but is ${show(listener)}.`);
    return this.cluster.listen({
      onShare: () => isolated(() => listener.onShare?.()),
      onResumed: () => isolated(() => listener.onResumed?.()),
      onState: (state) => isolated(() => listener.onState?.(state)),
      onProblem: (problem) => isolated(() => listener.onProblem?.(problem)),
      onMembers: () => isolated(() => listener.onMembers?.()),
      onFault: (fault, kind) => isolated(() => listener.onFault?.(fault, kind)),
    });
  }

  owners(): Promise<DeviceOwners> {
    return this.#reached('The owners of the devices were not read', this.#owners.get());
  }

  work({ inFlight = 16, redeliver = 60, attempts = 5, deliver }: ClusterWork): () => void {
    if (!(Number.isInteger(inFlight) && inFlight >= 1 && inFlight <= MOST.inFlight))
      throw invalidInput(`inFlight must be a whole number from 1 to ${MOST.inFlight}.`);
    if (!(typeof redeliver === 'number' && redeliver >= 1 && redeliver <= MOST.redeliver))
      throw invalidInput(`redeliver must be a number of seconds from 1 to ${MOST.redeliver}.`);
    if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= MOST.attempts))
      throw invalidInput(`attempts must be a whole number from 1 to ${MOST.attempts}.`);
    if (typeof deliver !== 'function') throw invalidInput('deliver must be a function.');
    if (this.#working)
      throw new DeviceCloudError(
        'NOT_CONFIGURED',
        'This process works on the queue of the application already. Only one can do so in a process.',
      );
    this.#working = true;
    const end = this.cluster.work({
      ...{ inFlight, redeliver, attempts },
      deliver: (job) => this.#deliver(job, deliver),
    });
    return () => {
      if (!this.#working) return;
      this.#working = false;
      end();
    };
  }

  async acknowledge(token: string): Promise<boolean> {
    if (!isToken(token))
      throw invalidInput(
        `An upload of the queue is acknowledged by its token, a text such as 10000001:1700000000000-0, but this is ${show(token)}.`,
      );
    return this.#reached('The upload was not acknowledged', this.cluster.acknowledge(token));
  }

  queueState(): Promise<QueueState> {
    return this.#reached('The length of the queue was not read', this.cluster.queueState());
  }

  info(): Promise<StoreInfo> {
    return this.#reached('The engine of the cluster does not answer', this.#store.info());
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.cluster.close();
    await this.#store.close();
  }

  #deliver({ chipid, upload, token, isRedelivered }: Job, deliver: ClusterWork['deliver']): void {
    const read = uploadFromText(chipid, upload);
    if (read) {
      const job: ClusterJob = { token, chipid, upload: read, redelivered: isRedelivered };
      isolated(() => deliver(job));
      return;
    }
    // It would hold up all that follow it.
    this.cluster.report('an entry of the queue is not an upload, and was removed', 'queue entry');
    this.cluster.acknowledge(token).catch(() => undefined);
  }

  async #reached<T>(what: string, answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      throw new DeviceCloudError('UNREACHABLE', `${what}. ${oneLine(error.message, MAX_REASON)}`);
    }
  }
}
