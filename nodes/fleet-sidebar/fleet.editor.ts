import { plain } from '../common/editor/plain';

/** A device as `device-cloud/apps/:id/fleet` shows it; times in ms by the server's clock. */
export interface FleetRow {
  chipid: string;
  name: string | null;
  online: boolean | null;
  since: number | null;
  lastUpload: number | null;
  channel: {
    state: 'connecting' | 'connected' | 'disconnected' | 'elsewhere';
    reason: string | null;
  } | null;
  waiting: number;
  reconnects: number;
  recovered: number;
  lastError: { code: string; message: string; at: number } | null;
  /** The process of the cluster that holds it. */
  process?: string;
}

/** The cluster that shares the devices. */
export interface FleetCluster {
  state: 'joining' | 'member' | 'awaiting' | 'closed';
  processes: number;
  problem?: { setting: 'password' | 'rights' | 'tls'; message: string };
  queue?: { length: number; deadLetters: number };
}

/** The answer of that route. */
export interface FleetAnswer {
  revision: number;
  devices: FleetRow[];
  removed: string[];
  complete?: boolean;
  cluster?: FleetCluster;
}

/** The texts in it come from a server that may be anyone's. */
function displayable(row: FleetRow): FleetRow {
  const { name, channel, lastError, process } = row;
  return {
    ...row,
    name: name === null ? null : plain(name),
    channel: channel?.reason ? { ...channel, reason: plain(channel.reason) } : channel,
    lastError: lastError && { ...lastError, message: plain(lastError.message) },
    ...(process === undefined ? {} : { process: plain(process) }),
  };
}

/** Numbers in a text as wide as they can be, so that the order of the letters is that of the numbers, too. */
const sortKey = (name: string): string =>
  name.replace(/\d+/g, (digits) => digits.padStart(16, '0'));

/** What is known of the devices of the chosen application. */
export class Fleet {
  cluster: FleetCluster | undefined;
  readonly #rows = new Map<string, FleetRow>();
  /** Chip numbers in the order they are shown in; undefined if that has to be worked out. */
  #order: string[] | undefined;

  get size(): number {
    return this.#rows.size;
  }

  get(chipid: string): FleetRow | undefined {
    return this.#rows.get(chipid);
  }

  clear(): void {
    this.cluster = undefined;
    this.#rows.clear();
    this.#order = undefined;
  }

  apply({ devices, removed, complete, cluster }: FleetAnswer): void {
    if (complete === true) this.clear();
    this.cluster = cluster;
    for (const given of devices) {
      const row = displayable(given);
      if (this.#rows.get(row.chipid)?.name !== row.name) this.#order = undefined;
      if (!this.#rows.has(row.chipid)) this.#order = undefined;
      this.#rows.set(row.chipid, row);
    }
    for (const chipid of removed) if (this.#rows.delete(chipid)) this.#order = undefined;
  }

  /** All devices: those with a name by name, then the others by number. */
  rows(): FleetRow[] {
    this.#order ??= this.#sorted();
    return this.#order.flatMap((chipid) => this.#rows.get(chipid) ?? []);
  }

  #sorted(): string[] {
    // Not `numeric`, which takes twice as long; a sort of 5,000 names is most of what the first rows wait for.
    const { compare } = new Intl.Collator();
    const named: { key: string; chipid: string }[] = [];
    const others: { chipid: string }[] = [];
    for (const { name, chipid } of this.#rows.values()) {
      if (name === null) others.push({ chipid });
      else named.push({ key: sortKey(name), chipid });
    }
    // Digits without zeros in front: the longer one is the greater one.
    const byNumber = (a: { chipid: string }, b: { chipid: string }): number =>
      a.chipid.length - b.chipid.length || (a.chipid < b.chipid ? -1 : 1);
    named.sort((a, b) => compare(a.key, b.key) || byNumber(a, b));
    others.sort(byNumber);
    return [...named, ...others].map(({ chipid }) => chipid);
  }
}
