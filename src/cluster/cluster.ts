import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { DeviceCloudError, invalidInput } from '../errors';
import { oneLine, show } from '../util/show';
import { DeviceLocks } from './command-lock';
import { callEach, Faults } from './faults';
import { Membership, systemClock } from './membership';
import { Bus } from './messages';
import { PositionWriter } from './positions';
import { Queue } from './queue';
import { DeviceClaims, isPartition, slotOf } from './slots';
import { StoreError, type BeatReply, type Clock, type Store } from './store';
import type {
  ClusterListener,
  ClusterMember,
  ClusterProblem,
  ClusterState,
  ClusterWork,
  DeviceOwners,
  QueueState,
  StoreInfo,
} from './types';

export interface ClusterOptions {
  readonly store: Store;
  /** Seconds after which the devices of a process that is gone are taken over; default 5, from 2 to 60. */
  readonly lease?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** The member's id, unique and new at each start; default: the host's name and a random part. */
  readonly member?: string;
}

/** A listener that is part of this package. */
export interface MemberListener extends ClusterListener {
  /** The store may have lost data. Called after each beat until it has settled. */
  onUnsettled?(incarnation: string): void;
}

const DEFAULT_LEASE = 5;

/** How long the owners of devices are reused, in ms: displays request them repeatedly. */
const FRESH = 2000;

/** The most characters of an error's reason that are repeated. */
const MAX_REASON = 300;

/** The membership as a client uses it. @throws DeviceCloudError `NOT_CONFIGURED` if it is anything else */
export function clusterOf(member: ClusterMember): Cluster {
  if (member instanceof Cluster) return member;
  throw new DeviceCloudError(
    'NOT_CONFIGURED',
    'The cluster must be what joinCluster has returned.',
  );
}

/** One process's part in a cluster of processes that share the devices of an application. It joins at once. */
export class Cluster implements ClusterMember {
  readonly member: string;
  readonly store: Store;
  /** How far the uploads of devices were emitted, by any process. */
  readonly positions: PositionWriter;
  /** Keep the commands of all processes apart. */
  readonly locks: DeviceLocks;
  /** A process in which nothing uses devices claims no share of them. */
  readonly claims: DeviceClaims;
  readonly #clock: Clock;
  readonly #membership: Membership;
  readonly #queue: Queue;
  readonly #faults: Faults;
  /** Each in a list of its own, since the same one may listen twice. */
  readonly #listeners = new Set<readonly [MemberListener]>();
  /** What is being written besides. */
  readonly #writing = new Set<Promise<unknown>>();
  #members: readonly string[] = [];
  #state: ClusterState = 'joining';
  #hasRefused = false;
  /** Positions cannot be written, although beats may be answered. */
  #isStuck = false;
  #hasShareChanged = false;
  #owners: Promise<DeviceOwners> | undefined;
  #ownersAt = 0;
  #closing: Promise<void> | undefined;

  constructor(options: ClusterOptions) {
    const { store, clock = systemClock, random = Math.random } = options;
    const { member = `${hostname()}-${randomUUID().slice(0, 8)}`, lease = DEFAULT_LEASE } = options;
    this.member = member;
    this.store = store;
    this.#clock = clock;
    const shared = { store, clock, member };
    this.#faults = new Faults(store, clock, this.#listeners);
    this.#membership = new Membership({
      ...shared,
      lease: lease * 1000,
      claims: () => [...this.claims.current, ...(this.#queue.isWorking ? ['queue' as const] : [])],
      flush: () => this.positions.flush(),
      restore: (holding) => store.restore(member, holding, this.positions.entriesOf(holding.slot)),
      gained: (slot) => (isPartition(slot) ? this.#queue.gained(slot) : this.#shareChanged()),
      lost: (slot) => (isPartition(slot) ? this.#queue.lost(slot) : this.#shareChanged()),
      ended: (slot) => this.positions.forget(slot),
      validity: () => this.#showValidity(),
      failed: (error) => this.#faults.failed(error),
      replied: (reply) => this.#onReply(reply),
    });
    this.positions = new PositionWriter({
      ...{ ...shared, membership: this.#membership, written: () => this.#checkResumed() },
      failed: (error) => {
        this.#isStuck = true;
        this.#faults.failed(error);
        this.#showValidity();
      },
    });
    this.claims = new DeviceClaims(clock, () => this.#membership.beatSoon());
    this.locks = new DeviceLocks({ ...shared, random, track: (release) => this.track(release) });
    this.#queue = new Queue(store, clock, this.#membership, this.#faults);
  }

  get state(): ClusterState {
    return this.#state;
  }

  get problem(): ClusterProblem | undefined {
    return this.#faults.problem;
  }

  get members(): readonly string[] {
    return this.#members;
  }

  /** Whether a device's channel belongs to this process, even while nothing may be emitted. */
  owns(chipid: string): boolean {
    return this.#state !== 'closed' && this.#membership.slots.has(slotOf(chipid));
  }

  /** Increases with each claim of a device's slot, which outdates what was read before; undefined without the slot. */
  epochOf(chipid: string): number | undefined {
    return this.owns(chipid) ? this.#membership.slots.epochOf(slotOf(chipid)) : undefined;
  }

  /** Whether an upload of a device may be emitted now. To be checked before each one. */
  mayEmit(chipid: string): boolean {
    const may = this.#membership.mayAct(slotOf(chipid)) && this.positions.isPrompt;
    // An upload of another process's device is not to be emitted later, either.
    if (!may && this.owns(chipid)) this.#hasRefused = true;
    return may;
  }

  /**
   * Whether a device's channel may be opened here now. After `hold`, `onResumed` is called when it may be.
   * A process that is cut off from the engine opens none: another one may have taken over the device.
   */
  access(chipid: string): 'open' | 'hold' | 'elsewhere' {
    if (!this.owns(chipid)) return 'elsewhere';
    if (this.#membership.mayAct(slotOf(chipid))) return 'open';
    this.#hasRefused = true;
    return 'hold';
  }

  /** Has {@link close} wait for something that never rejects. */
  track(writing: Promise<unknown>): void {
    this.#writing.add(writing);
    void writing.then(() => this.#writing.delete(writing));
  }

  /** Opens the messages between the members. The caller has to close them. */
  openBus(): Bus {
    const malformed = (): void => this.report('A message was malformed, and ignored.', 'message');
    return new Bus(this.store, this.member, malformed);
  }

  /** Asks the engine soon what this process holds, since another one has said that its share has changed. */
  lookSoon(): void {
    this.#membership.beatSoon();
  }

  work(work: ClusterWork): () => void {
    const end = this.#queue.work(work);
    this.#membership.beatSoon();
    return end;
  }

  acknowledge(token: string): Promise<boolean> {
    return reached('The upload was not acknowledged', this.#queue.acknowledge(token));
  }

  owners(): Promise<DeviceOwners> {
    const now = this.#clock.monotonic();
    if (!this.#owners || now - this.#ownersAt >= FRESH) {
      this.#ownersAt = now;
      const reading = this.store.owners();
      this.#owners = reading.then((slots) => ({ of: (chipid) => slots.get(slotOf(chipid)) }));
      this.#owners.catch(() => (this.#owners = undefined));
    }
    return reached('The owners of the devices were not read', this.#owners);
  }

  queueState(): Promise<QueueState> {
    return reached('The length of the queue was not read', this.store.queueState());
  }

  info(): Promise<StoreInfo> {
    return reached('The engine of the cluster does not answer', this.store.info());
  }

  listen(listener: MemberListener): () => void {
    if (typeof listener !== 'object' || (listener as unknown) === null)
      throw invalidInput(`A listener of a cluster must be an object, but is ${show(listener)}.`);
    const own = [listener] as const;
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Reports a fault of the engine or of another process; each kind once a minute. */
  report(fault: string, kind: string): void {
    this.#faults.report(fault, kind);
  }

  /** Writes everything that is unwritten, leaves, and frees the devices for others at once. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#queue.close();
    this.claims.close();
    this.#membership.stop();
    this.#setState('closed');
    await Promise.all([this.positions.flush(), ...this.#writing]);
    this.positions.close();
    // If it cannot be reached, the devices are free after a lease.
    await this.store.leave(this.member).catch(() => undefined);
    this.#listeners.clear();
    await this.store.close();
  }

  #each(call: (listener: MemberListener) => void): void {
    callEach(this.#listeners, call);
  }

  /** Many slots change at a time: the listeners are called once. */
  #shareChanged(): void {
    if (this.#hasShareChanged) return;
    this.#hasShareChanged = true;
    queueMicrotask(() => {
      this.#hasShareChanged = false;
      this.#each((listener) => listener.onShare?.());
    });
  }

  #onReply(reply: BeatReply): void {
    this.#faults.answered();
    const members = reply.members.map(({ member }) => member).sort();
    if (members.join() !== this.#members.join()) {
      this.#members = members;
      this.#each((listener) => listener.onMembers?.());
    }
    // Locks may be lost like everything else; others get none until the store has settled.
    if (!reply.isSettled) {
      this.locks.restore();
      this.#each((listener) => listener.onUnsettled?.(reply.incarnation));
    }
    this.#queue.fill();
    this.#checkResumed();
  }

  #showValidity(): void {
    this.#setState(this.#membership.isValid && !this.#isStuck ? 'member' : 'awaiting');
  }

  #checkResumed(): void {
    if (this.#isStuck && this.positions.isPrompt) {
      this.#isStuck = false;
      this.#showValidity();
    }
    if (!this.#hasRefused || !this.#membership.isValid || !this.positions.isPrompt) return;
    this.#hasRefused = false;
    this.#each((listener) => listener.onResumed?.());
  }

  #setState(state: ClusterState): void {
    if (this.#state === state || this.#state === 'closed') return;
    this.#state = state;
    this.#each((listener) => listener.onState?.(state));
  }
}

/** @throws DeviceCloudError `UNREACHABLE`, with what was not done, if the store fails */
export async function reached<T>(what: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new DeviceCloudError('UNREACHABLE', `${what}. ${oneLine(error.message, MAX_REASON)}`);
  }
}
