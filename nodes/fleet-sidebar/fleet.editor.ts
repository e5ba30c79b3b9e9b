/** A device as `device-cloud/apps/:id/fleet` shows it; times in ms by the server's clock. */
export interface FleetRow {
  chipid: string;
  name: string | null;
  online: boolean | null;
  since: number | null;
  lastUpload: number | null;
  channel: { state: 'connecting' | 'connected' | 'disconnected'; reason: string | null } | null;
  waiting: number;
  reconnects: number;
  recovered: number;
  lastError: { code: string; message: string; at: number } | null;
}

/** The answer of that route. */
export interface FleetAnswer {
  revision: number;
  devices: FleetRow[];
  removed: string[];
  complete?: boolean;
}

/** What is known of the devices of the chosen application. */
export class Fleet {
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
    this.#rows.clear();
    this.#order = undefined;
  }

  apply({ devices, removed, complete }: FleetAnswer): void {
    if (complete === true) this.clear();
    for (const row of devices) {
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
    const { compare } = new Intl.Collator(undefined, { numeric: true });
    const named: FleetRow[] = [];
    const others: FleetRow[] = [];
    for (const row of this.#rows.values()) (row.name === null ? others : named).push(row);
    named.sort((a, b) => compare(a.name ?? '', b.name ?? '') || compare(a.chipid, b.chipid));
    // Digits without zeros in front: the longer one is the greater one.
    const byNumber = (a: FleetRow, b: FleetRow): number =>
      a.chipid.length - b.chipid.length || (a.chipid < b.chipid ? -1 : 1);
    others.sort(byNumber);
    return [...named, ...others].map(({ chipid }) => chipid);
  }
}
