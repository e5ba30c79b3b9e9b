import type { ClusterMember, Fleet, QueueState } from '../../../src/index';
import type { DeviceProcesses, FleetCluster } from '../app-node';

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
export interface FleetProcessesDeps {
  fleet: () => Pick<Fleet, 'snapshot'> | undefined;
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
    return {
      ...{ state, processes: members.length },
      ...(problem ? { problem: { ...problem, message: withoutHost(problem.message) } } : {}),
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
    for (const { chipid } of fleet.snapshot()) {
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
