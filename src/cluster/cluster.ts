import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Bus } from './bus';
import { systemClock, type Clock } from './clock';
import { CommandLock, type LockCaller, type LockTimes } from './command-lock';
import { DeviceClaims, type DeviceUse } from './device-claims';
import { EngineFaults, type ClusterProblem } from './engine-faults';
import { Membership } from './membership';
import { PositionLoader } from './position-loader';
import { PositionWriter } from './position-writer';
import { QueueShare, type WorkOptions } from './queue-share';
import { isPartition, slotOf } from './slots';
import type { BeatReply, QueueState, Store } from './store';

export interface ClusterOptions {
  readonly store: Store;
  /** Seconds after which the devices of a process that is gone are taken over; default 5, from 2 to 60. */
  readonly lease?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** The member's id, unique and new at each start; default: the host's name and a random part. */
  readonly member?: string;
}

/** Is called with changes. */
export interface ClusterListener {
  /** The devices that this process holds have changed: see {@link Cluster.owns}. */
  onShare?(): void;
  /**
   * Uploads that {@link Cluster.mayEmit} has refused may be emitted now, from the last position on, and channels
   * may be opened that {@link Cluster.access} has held.
   */
  onResumed?(): void;
  /** {@link Cluster.state} has changed. */
  onState?(state: ClusterState): void;
  /** {@link Cluster.problem} has changed. */
  onProblem?(problem: ClusterProblem | undefined): void;
  /** Processes have joined, left or died: {@link Cluster.members}. */
  onMembers?(): void;
  /**
   * The engine cannot be reached, or it or another process has sent something malformed, which is ignored.
   * @param fault text for the log
   * @param kind equal for all faults of one kind
   */
  onFault?(fault: string, kind?: string): void;
}

/**
 * `joining`: not a member yet. `member`: it may act for its devices. `awaiting`: the engine cannot be reached, or has
 * just been restarted; nothing is emitted until it is certain that no other process emits the same.
 */
export type ClusterState = 'joining' | 'member' | 'awaiting' | 'closed';

const DEFAULT_LEASE = 5;

/** Milliseconds between two reports of one kind. */
const REPORT_EVERY = 60_000;

/** One process's part in a cluster of processes that share the devices of an application. */
export class Cluster {
  readonly member: string;
  private readonly store: Store;
  private readonly membership: Membership;
  private readonly writer: PositionWriter;
  private readonly loader: PositionLoader;
  private readonly lock: CommandLock;
  private readonly listeners = new Set<ClusterListener>();
  private readonly queue: QueueShare;
  private readonly deviceClaims: DeviceClaims;
  private readonly faults: EngineFaults;
  private others: readonly string[] = [];
  private current: ClusterState = 'joining';
  private readonly clock: Clock;
  /** When a fault of each kind was last reported. */
  private readonly reported = new Map<string, number>();
  private hasRefused = false;
  /** Positions cannot be written, although beats may be answered. */
  private isStuck = false;
  private hasShareChanged = false;

  constructor(options: ClusterOptions) {
    const { store, clock = systemClock, random = Math.random } = options;
    this.member = options.member ?? `${hostname()}-${randomUUID().slice(0, 8)}`;
    this.store = store;
    this.clock = clock;
    const shared = { store, clock, member: this.member };
    this.writer = new PositionWriter({
      ...shared,
      epochOf: (slot) => this.membership.slots.epochOf(slot),
      fenced: (slot) => this.membership.fenced(slot),
      behind: () => this.membership.beatSoon(),
      written: () => this.checkResumed(),
      failed: (error) => {
        this.isStuck = true;
        this.faults.failed(error);
        this.showValidity();
      },
    });
    this.loader = new PositionLoader((chipids) => this.writer.load(chipids));
    this.queue = new QueueShare(
      store,
      clock,
      (slot) => this.membership.mayAct(slot),
      (chipid, times) =>
        this.report(
          `an upload of device ${chipid} was delivered ${times} times and never acknowledged, and is a dead letter now`,
          'dead letter',
        ),
    );
    this.deviceClaims = new DeviceClaims(clock, () => this.membership.beatSoon());
    this.lock = new CommandLock({ ...shared, random });
    this.faults = new EngineFaults({
      ...shared,
      report: this.report.bind(this),
      changed: () => {
        for (const listener of this.listeners) listener.onProblem?.(this.problem);
      },
    });
    this.membership = new Membership({
      ...shared,
      lease: (options.lease ?? DEFAULT_LEASE) * 1000,
      claims: () => [
        ...this.deviceClaims.current,
        ...(this.queue.isWorking ? (['queue'] as const) : []),
      ],
      generation: randomUUID,
      flush: () => this.writer.flush(),
      restore: (holding) =>
        store.restore(this.member, holding, this.writer.entriesOf(holding.slot)),
      gained: ({ slot }) => this.gained(slot),
      lost: (slot) => this.lost(slot),
      ended: (slot) => this.writer.forget(slot),
      validity: () => this.showValidity(),
      failed: (error) => this.faults.failed(error),
      replied: (reply) => this.onReply(reply),
    });
  }

  /** Joins. */
  start(): void {
    this.membership.start();
  }

  get state(): ClusterState {
    return this.current;
  }

  /** The setting that keeps it from the engine; undefined as long as waiting may help. */
  get problem(): ClusterProblem | undefined {
    return this.faults.problem;
  }

  /** The ids of all members, this one's included, in order, as of the last beat. */
  get members(): readonly string[] {
    return this.others;
  }

  /** Whether a device's channel belongs to this process, even while nothing may be emitted. */
  owns(chipid: string): boolean {
    return this.current !== 'closed' && this.membership.slots.has(slotOf(chipid));
  }

  /** Increases with each claim of a device's slot, which outdates what was read before; undefined without the slot. */
  epochOf(chipid: string): number | undefined {
    return this.owns(chipid) ? this.membership.slots.epochOf(slotOf(chipid)) : undefined;
  }

  /** Whether an upload of a device may be emitted now. To be checked before each one. */
  mayEmit(chipid: string): boolean {
    const may = this.membership.mayAct(slotOf(chipid)) && this.writer.isPrompt;
    // An upload of another process's device is not to be emitted later, either.
    if (!may && this.owns(chipid)) this.hasRefused = true;
    return may;
  }

  /**
   * Whether a device's channel may be opened here now. After `hold`, `onResumed` is called when it may be.
   * A process that is cut off from the engine opens none: another one may have taken over the device.
   */
  access(chipid: string): 'open' | 'hold' | 'elsewhere' {
    if (!this.owns(chipid)) return 'elsewhere';
    if (this.membership.mayAct(slotOf(chipid))) return 'open';
    this.hasRefused = true;
    return 'hold';
  }

  /**
   * How far a device's uploads have been emitted, by any process.
   * @throws StoreError
   */
  loadPosition(chipid: string): Promise<string | undefined> {
    return this.loader.get(chipid);
  }

  /** Saves how far a device's uploads have been emitted. No effect if another process holds the device by now. */
  savePosition(chipid: string, position: string): void {
    this.writer.save(chipid, position);
  }

  /**
   * Appends an upload to the queue and saves its position, in one step.
   * @throws StoreError if another process holds the device by now, which then appends it
   */
  append(chipid: string, position: string, upload: string): Promise<void> {
    return this.writer.append(chipid, position, upload);
  }

  /**
   * Runs a command while no other process sends one to the device.
   * @throws DeviceCloudError `UNREACHABLE`: it was not sent
   */
  withLock<T>(
    chipid: string,
    times: LockTimes,
    command: () => Promise<T>,
    caller?: LockCaller,
  ): Promise<T> {
    return this.lock.run(chipid, times, command, caller);
  }

  /** Opens the messages between the members. The caller has to close them. */
  openBus(): Bus {
    const { store, member } = this;
    const malformed = (): void => this.report('a message was malformed, and ignored', 'message');
    return new Bus({ store, member, malformed });
  }

  /**
   * Claims a share of the devices; a process in which nothing uses devices claims none.
   * @returns a function that ends the use; the claim ends some seconds after the last one
   */
  use(use: DeviceUse): () => void {
    return this.deviceClaims.use(use);
  }

  /** Asks the engine soon what this process holds, since another one has said that its share has changed. */
  lookSoon(): void {
    this.membership.beatSoon();
  }

  /** Starts to work on a share of the queue; once per process. @returns a function that ends it */
  work(options: WorkOptions): () => void {
    const end = this.queue.work(options);
    this.membership.beatSoon();
    return end;
  }

  /** Acknowledges a job of any process. @returns whether it had not been acknowledged before. @throws StoreError */
  acknowledge(token: string): Promise<boolean> {
    return this.queue.acknowledge(token);
  }

  /** How much the queue holds. @throws StoreError */
  queueState(): Promise<QueueState> {
    return this.store.queueState();
  }

  /** Adds a listener. @returns a function that removes it */
  listen(listener: ClusterListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Reports a fault of the engine or of another process; each kind once a minute. */
  report(fault: string, kind: string): void {
    if (this.listeners.size === 0) return;
    const now = this.clock.monotonic();
    if (now - (this.reported.get(kind) ?? -Infinity) < REPORT_EVERY) return;
    this.reported.set(kind, now);
    for (const listener of this.listeners) listener.onFault?.(fault, kind);
  }

  /** Writes what is unwritten, leaves, and frees the devices for others at once. The store stays open. */
  async close(): Promise<void> {
    if (this.current === 'closed') return;
    this.queue.close();
    this.deviceClaims.close();
    this.membership.stop();
    this.setState('closed');
    await Promise.all([this.writer.flush(), this.lock.settled()]);
    this.writer.close();
    await this.membership.leave();
    this.listeners.clear();
  }

  private gained(slot: number): void {
    if (isPartition(slot)) this.queue.gained(slot);
    else this.shareChanged();
  }

  private lost(slot: number): void {
    if (isPartition(slot)) this.queue.lost(slot);
    else this.shareChanged();
  }

  /** Many slots change at a time: the listeners are called once. */
  private shareChanged(): void {
    if (this.hasShareChanged) return;
    this.hasShareChanged = true;
    queueMicrotask(() => {
      this.hasShareChanged = false;
      for (const listener of this.listeners) listener.onShare?.();
    });
  }

  private onReply(reply: BeatReply): void {
    this.faults.answered();
    this.setMembers(reply.members.map(({ member }) => member));
    // Locks may be lost like everything else; others get none until the store has settled.
    if (!reply.isSettled) void this.lock.restore();
    this.queue.wake();
    this.checkResumed();
  }

  private setMembers(members: readonly string[]): void {
    const sorted = [...members].sort();
    if (sorted.join() === this.others.join()) return;
    this.others = sorted;
    for (const listener of this.listeners) listener.onMembers?.();
  }

  private showValidity(): void {
    this.setState(this.membership.isValid && !this.isStuck ? 'member' : 'awaiting');
  }

  private checkResumed(): void {
    if (this.isStuck && this.writer.isPrompt) {
      this.isStuck = false;
      this.showValidity();
    }
    if (!this.hasRefused || !this.membership.isValid || !this.writer.isPrompt) return;
    this.hasRefused = false;
    for (const listener of this.listeners) listener.onResumed?.();
  }

  private setState(state: ClusterState): void {
    if (this.current === state || this.current === 'closed') return;
    this.current = state;
    for (const listener of this.listeners) listener.onState?.(state);
  }
}
