import type { ClusterMember, Fleet, QueueState } from '../../src/for-nodes';
import type { FleetCluster } from './answers.config';
import type { DeviceProcesses } from './deployed';

/** Seconds for which a fleet is kept up to date after a request. */
const KEPT = 60;
/** Milliseconds between two readings of the list meanwhile. */
const INTERVAL = 30_000;

/** The dependencies of a view. */
interface FleetViewDeps {
  /** The fleet of the current client. */
  fleet: () => Fleet | undefined;
  /** Whether the list can be read. */
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
  readonly #deps: FleetViewDeps;
  #left = 0;
  #timer: NodeJS.Timeout | undefined;
  #polled: Fleet | undefined;
  #leave: (() => void) | undefined;
  #announced = 0;

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

interface Holder {
  readonly process: string | undefined;
  /** When it was seen that it has changed; undefined if it has not since the device is known. */
  readonly changed: number | undefined;
}

/** The parts of a fleet and a membership that are needed. */
interface FleetProcessesDeps {
  fleet: () => Pick<Fleet, 'chipids' | 'otherBooks'> | undefined;
  cluster: () => ClusterMember | undefined;
}

/** What TLS says of a host names it, which not every user may know. */
const withoutHost = (message: string): string =>
  message.replace(/[^\s:]+:\d+: /g, '').replace(/altnames: .*/s, 'altnames');

/** Compares what it reads with what it read before: the revisions of the fleet do not count it. */
export class FleetProcesses implements DeviceProcesses {
  #holders = new Map<string, Holder>();
  #queue: QueueState | undefined;
  #queueReadAt = -Infinity;
  #shown = '';

  constructor(private readonly deps: FleetProcessesDeps) {}

  async read(): Promise<boolean> {
    const [hasMoved] = await Promise.all([this.#readOwners(), this.#readQueue()]);
    const shown = JSON.stringify(this.cluster());
    const hasChanged = shown !== this.#shown;
    this.#shown = shown;
    return hasMoved || hasChanged;
  }

  cluster(): FleetCluster | undefined {
    const cluster = this.deps.cluster();
    if (!cluster) return undefined;
    const { state, members, problem } = cluster;
    const otherBooks = this.deps.fleet()?.otherBooks() ?? [];
    return {
      ...{ state, processes: members.length },
      ...(problem ? { problem: { ...problem, message: withoutHost(problem.message) } } : {}),
      ...(otherBooks.length > 0 ? { otherBooks } : {}),
      ...(this.#queue ? { queue: this.#queue } : {}),
    };
  }

  isElsewhere(chipid: string): boolean {
    const process = this.of(chipid);
    return process !== undefined && process !== this.deps.cluster()?.member;
  }

  async #readQueue(): Promise<void> {
    const now = performance.now();
    if (now - this.#queueReadAt < FRESH) return;
    this.#queueReadAt = now;
    // While the engine is away, the last length is shown.
    const read = await this.deps
      .cluster()
      ?.queueState()
      .catch(() => undefined);
    this.#queue = read ?? this.#queue;
  }

  async #readOwners(): Promise<boolean> {
    const owners = await this.deps
      .cluster()
      ?.owners()
      .catch(() => undefined);
    const fleet = this.deps.fleet();
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

  of(chipid: string): string | undefined {
    return this.#holders.get(chipid)?.process;
  }

  moved(): string[] {
    const since = Date.now() - RECENT;
    return [...this.#holders].flatMap(([chipid, { changed = 0 }]) =>
      changed > since ? [chipid] : [],
    );
  }
}
