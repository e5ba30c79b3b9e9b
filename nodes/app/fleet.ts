import type { ClusterMember, Fleet, QueueState } from '../../src/for-nodes';
import type { FleetCluster } from './answers.config';

/** Seconds for which a fleet is kept up to date after a request. */
const KEPT = 60;
/** Milliseconds between two readings of the list meanwhile. */
const INTERVAL = 30_000;

interface FleetViewDeps {
  fleet: () => Fleet | undefined;
  mayPoll: () => boolean;
  /** Something has changed. Called at most once a second. */
  onRevision: (revision: number) => void;
  /** Looks at what the revision does not count. @returns whether it has changed. It never rejects */
  hasMoved?: () => Promise<boolean>;
}

/**
 * Keeps a fleet up to date while it is viewed: polls the list of online devices and announces each
 * change. It ends a minute after the last request.
 */
export class FleetView {
  #left = 0;
  #timer: NodeJS.Timeout | undefined;
  #polled: Fleet | undefined;
  #leave: (() => void) | undefined;
  #announced = 0;
  readonly #deps: FleetViewDeps;

  constructor(deps: FleetViewDeps) {
    this.#deps = deps;
  }

  /** Begins, or continues for another minute. */
  look(): void {
    const fleet = this.#deps.fleet();
    if (!fleet) return;
    this.#left = KEPT;
    this.#poll(fleet);
    if (this.#timer) return;
    this.#announced = fleet.revision;
    this.#timer = setInterval(() => this.#turn(), 1000);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#leave?.();
    this.#leave = this.#polled = undefined;
  }

  /** A client that was closed and recreated has another fleet. */
  #poll(fleet: Fleet): void {
    if (fleet === this.#polled || !this.#deps.mayPoll()) return;
    this.#leave?.();
    this.#polled = fleet;
    this.#leave = fleet.pollList(INTERVAL, {});
  }

  #turn(): void {
    const fleet = this.#deps.fleet();
    if (!fleet || --this.#left <= 0) {
      this.close();
      return;
    }
    void this.#deps.hasMoved?.().then((moved) => {
      if (moved && this.#timer) this.#deps.onRevision(fleet.revision);
    });
    if (fleet.revision === this.#announced) return;
    this.#announced = fleet.revision;
    this.#deps.onRevision(fleet.revision);
  }
}

/** Milliseconds for which a change is shown to those who ask what has changed. */
const RECENT = 60_000;

/** Milliseconds for which the length of the queue is not read again. */
const FRESH = 2000;

/** What TLS says of a host names it, which not every user may know. */
const withoutHost = (message: string): string =>
  message.replace(/[^\s:]+:\d+: /g, '').replace(/altnames: .*/s, 'altnames');

interface FleetProcessesDeps {
  fleet: () => Pick<Fleet, 'chipids' | 'otherBooks'> | undefined;
  cluster: () => ClusterMember | undefined;
}

/** Which process of the cluster holds each device. What it reads is compared with what it read before: no revision counts it. */
export class FleetProcesses {
  /** By chip number; `changed` says when another process was seen to hold the device. */
  #holders = new Map<string, { process: string | undefined; changed: number | undefined }>();
  #queue: QueueState | undefined;
  #queueReadAt = -Infinity;
  #shown = '';

  readonly #deps: FleetProcessesDeps;

  constructor(deps: FleetProcessesDeps) {
    this.#deps = deps;
  }

  /**
   * Reads which process holds each device, and the length of the queue; the cluster is asked at most every two seconds.
   * @returns whether anything has changed. If the cluster cannot be reached, all stays as it was
   */
  async read(): Promise<boolean> {
    const [hasMoved] = await Promise.all([this.#readOwners(), this.#readQueue()]);
    const shown = JSON.stringify(this.cluster());
    const hasChanged = shown !== this.#shown;
    this.#shown = shown;
    return hasMoved || hasChanged;
  }

  /** Undefined before this process has a membership. */
  cluster(): FleetCluster | undefined {
    const cluster = this.#deps.cluster();
    if (!cluster) return undefined;
    const { state, members, problem } = cluster;
    const otherBooks = this.#deps.fleet()?.otherBooks() ?? [];
    return {
      ...{ state, processes: members.length },
      ...(problem ? { problem: { ...problem, message: withoutHost(problem.message) } } : {}),
      ...(otherBooks.length > 0 ? { otherBooks } : {}),
      ...(this.#queue ? { queue: this.#queue } : {}),
    };
  }

  /** Whether another process holds a device. */
  isElsewhere(chipid: string): boolean {
    const process = this.of(chipid);
    return process !== undefined && process !== this.#deps.cluster()?.member;
  }

  async #readQueue(): Promise<void> {
    const now = performance.now();
    if (now - this.#queueReadAt < FRESH) return;
    this.#queueReadAt = now;
    // While the engine is away, the last length is shown.
    const reading = this.#deps.cluster()?.queueState();
    this.#queue = (await reading?.catch(() => undefined)) ?? this.#queue;
  }

  async #readOwners(): Promise<boolean> {
    const reading = this.#deps.cluster()?.owners();
    const owners = await reading?.catch(() => undefined);
    const fleet = this.#deps.fleet();
    if (!owners || !fleet) return false;
    const before = this.#holders;
    const now = Date.now();
    let hasMoved = false;
    this.#holders = new Map();
    // Of a device that was never seen, no process has anything.
    for (const chipid of fleet.chipids()) {
      const process = owners.of(chipid);
      const known = before.get(chipid);
      const moved = known !== undefined && known.process !== process;
      hasMoved ||= moved;
      this.#holders.set(chipid, { process, changed: moved ? now : known?.changed });
    }
    return hasMoved;
  }

  /** The id of the process that holds a device, if it is known. */
  of(chipid: string): string | undefined {
    return this.#holders.get(chipid)?.process;
  }

  /** The devices that have moved of late. */
  moved(): string[] {
    const since = Date.now() - RECENT;
    return [...this.#holders].flatMap(([chipid, { changed = 0 }]) =>
      changed > since ? [chipid] : [],
    );
  }
}
