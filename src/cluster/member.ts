import { DeviceCloudError, invalidInput } from '../errors';
import { isolated } from '../util/thrown';
import { oneLine, show } from '../util/show';
import { systemClock } from './clock';
import { Cluster, type ClusterOptions } from './cluster';
import { uploadFromText } from './messages';
import { openRedisStore } from './redis/redis-store';
import { readClusterSettings } from './options';
import { slotOf } from './slots';
import { StoreError, type Store } from './store';
import type {
  ClusterJob,
  ClusterListener,
  ClusterMember,
  ClusterProblem,
  ClusterSettings,
  ClusterState,
  ClusterWork,
  DeviceOwners,
  QueueState,
  StoreInfo,
} from './types';
import { readToken, type Job } from './worker';

const MOST = { inFlight: 10_000, redeliver: 86_400_000, attempts: 1000 };

/** The most characters of an error's reason that are repeated. */
const MAX_REASON = 300;

/** How long the owners of devices are reused, in ms: displays request them repeatedly. */
const FRESH = 2000;

/** How long a test of the settings waits for a connection, and how often it checks, in ms. */
const TEST = { patience: 5000, pause: 50 };

/** Joins a cluster: see `joinCluster` of the package. */
export async function join(settings: ClusterSettings): Promise<ClusterMember> {
  const { lease, store } = readClusterSettings(settings);
  return new Member({ store: await openRedisStore(store), lease });
}

/** Joins on an open store; for tests, whose members share one in memory. */
export const joinOn = (store: Store, options: Omit<ClusterOptions, 'store'> = {}): ClusterMember =>
  new Member({ store, ...options });

/** The membership as a client uses it. @throws DeviceCloudError `NOT_CONFIGURED` if it is anything else */
export function clusterOf(member: ClusterMember): Cluster {
  if (member instanceof Member) return member.cluster;
  throw new DeviceCloudError(
    'NOT_CONFIGURED',
    'The cluster must be what joinCluster has returned.',
  );
}

/** Tries settings without joining: see `testCluster` of the package. */
export async function test(settings: ClusterSettings): Promise<StoreInfo> {
  const store = await openRedisStore(readClusterSettings(settings).store);
  const began = performance.now();
  try {
    for (;;) {
      try {
        return await store.info();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (performance.now() - began >= TEST.patience)
          throw new DeviceCloudError(
            'UNREACHABLE',
            error.isRefusal
              ? `The engine of the cluster answers, but does not work. ${error.message}`
              : `The engine of the cluster was not reached within ${TEST.patience / 1000} s. ${error.message}`,
          );
      }
      await new Promise((resolve) => setTimeout(resolve, TEST.pause));
    }
  } finally {
    await store.close();
  }
}

/** A membership as callers see it: checks their input, and fails with the errors of the package. */
class Member implements ClusterMember {
  /** What clients use. */
  readonly cluster: Cluster;
  readonly #store: Store;
  readonly #monotonic: () => number;
  #owners: Promise<DeviceOwners> | undefined;
  #ownersAt = 0;
  #isWorking = false;
  #closing: Promise<void> | undefined;

  constructor(options: ClusterOptions) {
    const { store, clock = systemClock } = options;
    this.cluster = new Cluster(options);
    this.#store = store;
    this.#monotonic = () => clock.monotonic();
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
    const now = this.#monotonic();
    if (!this.#owners || now - this.#ownersAt >= FRESH) {
      this.#ownersAt = now;
      this.#owners = this.#store
        .owners()
        .then((owners) => ({ of: (chipid) => owners.get(slotOf(chipid)) }));
      this.#owners.catch(() => (this.#owners = undefined));
    }
    return reached('The owners of the devices were not read', this.#owners);
  }

  work({ inFlight = 16, redeliver = 60_000, attempts = 5, deliver }: ClusterWork): () => void {
    if (!(Number.isInteger(inFlight) && inFlight >= 1 && inFlight <= MOST.inFlight))
      throw invalidInput(`inFlight must be a whole number from 1 to ${MOST.inFlight}.`);
    if (!(typeof redeliver === 'number' && redeliver >= 1000 && redeliver <= MOST.redeliver))
      throw invalidInput(`redeliver must be from 1 to ${MOST.redeliver / 1000} s.`);
    if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= MOST.attempts))
      throw invalidInput(`attempts must be a whole number from 1 to ${MOST.attempts}.`);
    if (typeof deliver !== 'function') throw invalidInput('deliver must be a function.');
    if (this.#isWorking)
      throw new DeviceCloudError(
        'NOT_CONFIGURED',
        'This process works on the queue of the application already. Only one can do so in a process.',
      );
    this.#isWorking = true;
    const end = this.cluster.work({
      ...{ inFlight, redeliver: redeliver / 1000, attempts },
      deliver: (job) => this.#deliver(job, deliver),
    });
    return () => {
      if (!this.#isWorking) return;
      this.#isWorking = false;
      end();
    };
  }

  async acknowledge(token: string): Promise<boolean> {
    if (!readToken(token))
      throw invalidInput(
        `An upload of the queue is acknowledged by its token, a text such as 10000001:1700000000000-0, but this is ${show(token)}.`,
      );
    return reached('The upload was not acknowledged', this.cluster.acknowledge(token));
  }

  queueState(): Promise<QueueState> {
    return reached('The length of the queue was not read', this.#store.queueState());
  }

  info(): Promise<StoreInfo> {
    return reached('The engine of the cluster does not answer', this.#store.info());
  }

  close(): Promise<void> {
    return (this.#closing ??= this.cluster.close().then(() => this.#store.close()));
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
}

async function reached<T>(what: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new DeviceCloudError('UNREACHABLE', `${what}. ${oneLine(error.message, MAX_REASON)}`);
  }
}
