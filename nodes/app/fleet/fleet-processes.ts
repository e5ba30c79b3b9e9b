import type { ClusterMember, Fleet } from '../../../src/index';
import type { DeviceProcesses } from '../app-node';

/** Milliseconds for which a change is shown to those who ask what has changed. */
const RECENT = 60_000;

interface Holder {
  readonly process: string | undefined;
  /** When it was seen that it has changed; undefined if it has not since the device is known. */
  readonly changed: number | undefined;
}

/** The parts of a fleet and a membership that are needed. */
export interface FleetProcessesDeps {
  fleet: () => Pick<Fleet, 'snapshot'> | undefined;
  cluster: () => Pick<ClusterMember, 'owners'> | undefined;
}

/** Compares what it reads with what it read before: the revisions of the fleet do not count it. */
export class FleetProcesses implements DeviceProcesses {
  #holders = new Map<string, Holder>();

  constructor(private readonly deps: FleetProcessesDeps) {}

  async read(): Promise<boolean> {
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
