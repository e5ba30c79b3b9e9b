import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { systemClock, type Clock } from './clock';
import { DeviceLocks } from './command-lock';
import { EngineFaults } from './engine-faults';
import { Membership } from './membership';
import { openBus, type Bus } from './messages';
import { PositionWriter } from './position-writer';
import { combined } from './positions';
import { QueueShare, type WorkOptions } from './queue';
import { DeviceClaims, isPartition, slotOf, type DeviceUse } from './slots';
import type { BeatReply, Store } from './store';
import type { ClusterListener, ClusterProblem, ClusterState } from './types';

export interface ClusterOptions {
  readonly store: Store;
  /** Seconds after which the devices of a process that is gone are taken over; default 5, from 2 to 60. */
  readonly lease?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** The member's id, unique and new at each start; default: the host's name and a random part. */
  readonly member?: string;
}

const DEFAULT_LEASE = 5;

/** Milliseconds between two reports of one kind. */
const REPORT_EVERY = 60_000;

/** One process's part in a cluster of processes that share the devices of an application. */
export class Cluster {
  readonly member: string;
  /**
   * Runs a command while no other process sends one to the device.
   * @throws DeviceCloudError `UNREACHABLE`: it was not sent
   */
  readonly withLock: DeviceLocks['run'];
  /**
   * Reads how far a device's uploads have been emitted, by any process.
   * @throws StoreError
   */
  readonly loadPosition: (chipid: string) => Promise<string | undefined>;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #membership: Membership;
  readonly #writer: PositionWriter;
  readonly #locks: DeviceLocks;
  readonly #queue: QueueShare;
  readonly #claims: DeviceClaims;
  readonly #faults: EngineFaults;
  readonly #listeners = new Set<ClusterListener>();
  /** When a fault of each kind was last reported. */
  readonly #reported = new Map<string, number>();
  #members: readonly string[] = [];
  #state: ClusterState = 'joining';
  #hasRefused = false;
  /** Positions cannot be written, although beats may be answered. */
  #isStuck = false;
  #hasShareChanged = false;

  constructor(options: ClusterOptions) {
    const { store, clock = systemClock, random = Math.random } = options;
    const { member = `${hostname()}-${randomUUID().slice(0, 8)}`, lease = DEFAULT_LEASE } = options;
    this.member = member;
    this.#store = store;
    this.#clock = clock;
    const shared = { store, clock, member };
    this.#writer = new PositionWriter({
      ...shared,
      epochOf: (slot) => this.#membership.slots.epochOf(slot),
      fenced: (slot) => this.#membership.fenced(slot),
      behind: () => this.#membership.beatSoon(),
      written: () => this.#checkResumed(),
      failed: (error) => {
        this.#isStuck = true;
        this.#faults.failed(error);
        this.#showValidity();
      },
    });
    this.loadPosition = combined((chipids) => this.#writer.load(chipids));
    this.#queue = new QueueShare(
      store,
      clock,
      (slot) => this.#membership.mayAct(slot),
      (chipid, times) =>
        this.report(
          `an upload of device ${chipid} was delivered ${times} times and never acknowledged, and is a dead letter now`,
          'dead letter',
        ),
    );
    this.#claims = new DeviceClaims(clock, () => this.#membership.beatSoon());
    this.#locks = new DeviceLocks({ ...shared, random });
    this.withLock = this.#locks.run.bind(this.#locks);
    this.#faults = new EngineFaults({
      ...shared,
      report: (fault, kind) => this.report(fault, kind),
      changed: (problem) => this.#each((listener) => listener.onProblem?.(problem)),
    });
    this.#membership = new Membership({
      ...shared,
      lease: lease * 1000,
      claims: () => [
        ...this.#claims.current,
        ...(this.#queue.isWorking ? (['queue'] as const) : []),
      ],
      generation: randomUUID,
      flush: () => this.#writer.flush(),
      restore: (holding) => store.restore(member, holding, this.#writer.entriesOf(holding.slot)),
      gained: (slot) => (isPartition(slot) ? this.#queue.gained(slot) : this.#shareChanged()),
      lost: (slot) => (isPartition(slot) ? this.#queue.lost(slot) : this.#shareChanged()),
      ended: (slot) => this.#writer.forget(slot),
      validity: () => this.#showValidity(),
      failed: (error) => this.#faults.failed(error),
      replied: (reply) => this.#onReply(reply),
    });
  }

  /** Joins. */
  start(): void {
    this.#membership.start();
  }

  get state(): ClusterState {
    return this.#state;
  }

  /** The setting that keeps it from the engine; undefined as long as waiting may help. */
  get problem(): ClusterProblem | undefined {
    return this.#faults.problem;
  }

  /** The ids of all members, this one's included, in order, as of the last beat. */
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
    const may = this.#membership.mayAct(slotOf(chipid)) && this.#writer.isPrompt;
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

  /** Saves how far a device's uploads have been emitted. No effect if another process holds the device by now. */
  savePosition(chipid: string, position: string): void {
    this.#writer.save(chipid, position);
  }

  /**
   * Appends an upload to the queue and saves its position, in one step.
   * @throws StoreError if another process holds the device by now, which then appends it
   */
  append(chipid: string, position: string, upload: string): Promise<void> {
    return this.#writer.append(chipid, position, upload);
  }

  /** Opens the messages between the members. The caller has to close them. */
  openBus(): Bus {
    const { member } = this;
    const malformed = (): void => this.report('a message was malformed, and ignored', 'message');
    return openBus({ store: this.#store, member, malformed });
  }

  /**
   * Claims a share of the devices; a process in which nothing uses devices claims none.
   * @returns a function that ends the use; the claim ends some seconds after the last one
   */
  use(use: DeviceUse): () => void {
    return this.#claims.use(use);
  }

  /** Asks the engine soon what this process holds, since another one has said that its share has changed. */
  lookSoon(): void {
    this.#membership.beatSoon();
  }

  /** Starts to work on a share of the queue; once per process. @returns a function that ends it */
  work(options: WorkOptions): () => void {
    const end = this.#queue.work(options);
    this.#membership.beatSoon();
    return end;
  }

  /** Acknowledges a job of any process. @returns whether it had not been acknowledged before. @throws StoreError */
  acknowledge(token: string): Promise<boolean> {
    return this.#queue.acknowledge(token);
  }

  /** Adds a listener. @returns a function that removes it */
  listen(listener: ClusterListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reports a fault of the engine or of another process; each kind once a minute. */
  report(fault: string, kind: string): void {
    if (this.#listeners.size === 0) return;
    const now = this.#clock.monotonic();
    if (now - (this.#reported.get(kind) ?? -Infinity) < REPORT_EVERY) return;
    this.#reported.set(kind, now);
    this.#each((listener) => listener.onFault?.(fault, kind));
  }

  /** Writes everything that is unwritten, leaves, and frees the devices for others at once. The store stays open. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#queue.close();
    this.#claims.close();
    this.#membership.stop();
    this.#setState('closed');
    await Promise.all([this.#writer.flush(), this.#locks.settled()]);
    this.#writer.close();
    await this.#membership.leave();
    this.#listeners.clear();
  }

  #each(call: (listener: ClusterListener) => void): void {
    for (const listener of this.#listeners) call(listener);
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
    if (!reply.isSettled) void this.#locks.restore();
    this.#queue.wake();
    this.#checkResumed();
  }

  #showValidity(): void {
    this.#setState(this.#membership.isValid && !this.#isStuck ? 'member' : 'awaiting');
  }

  #checkResumed(): void {
    if (this.#isStuck && this.#writer.isPrompt) {
      this.#isStuck = false;
      this.#showValidity();
    }
    if (!this.#hasRefused || !this.#membership.isValid || !this.#writer.isPrompt) return;
    this.#hasRefused = false;
    this.#each((listener) => listener.onResumed?.());
  }

  #setState(state: ClusterState): void {
    if (this.#state === state || this.#state === 'closed') return;
    this.#state = state;
    this.#each((listener) => listener.onState?.(state));
  }
}
