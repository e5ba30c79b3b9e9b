import type { FleetAnswer, FleetRow } from '../app/answers.config';
import { plain } from '../common/editor/texts';

/** Milliseconds without an upload on an open channel after which a device counts as silent. */
const SILENT = 600_000;

/** @param now the server's time, in ms */
type Is = (row: FleetRow, now: number) => boolean;

/** What the list can be filtered by. */
export const STATES = {
  all: () => true,
  online: ({ online }) => online === true,
  offline: ({ online }) => online === false,
  silent: ({ channel, lastUpload, since }, now) =>
    channel?.state === 'connected' && now - (lastUpload ?? since ?? now) > SILENT,
  'channel-down': ({ channel }) => channel !== null && channel.state !== 'connected',
  alarm: ({ alarms }) => alarms !== undefined,
  missing: ({ missing }) => missing === true,
  waiting: ({ waiting }) => waiting > 0,
  error: ({ lastError }) => lastError !== null,
} as const satisfies Record<string, Is>;

export type State = keyof typeof STATES;

export const isState = (value: string): value is State => Object.hasOwn(STATES, value);

/**
 * The devices that are in a state and have a text in their name, number, latest values, groups or type.
 * @param now the server's time, in ms
 */
export function matching(
  rows: FleetRow[],
  { text: typed, state }: { text: string; state: State },
  now: number,
): FleetRow[] {
  const wanted = typed.trim().toLowerCase();
  const is: Is = STATES[state];
  return rows.filter(
    (row) =>
      is(row, now) &&
      [row.chipid, row.name, row.latest, row.type, ...(row.groups ?? [])].some((text) =>
        text?.toLowerCase().includes(wanted),
      ),
  );
}

/** What comes first where the list is sorted by state. */
const rankOf = ({ alarms, online, missing }: FleetRow): number => {
  if (alarms) return 0;
  if (missing) return 4;
  return online === false ? 1 : online === null ? 2 : 3;
};

/** Orders of the list. Each begins with the one by name, which decides among equal devices. */
export const ORDERS = {
  name: (rows) => rows,
  upload: (rows) => rows.toSorted((a, b) => (b.lastUpload ?? 0) - (a.lastUpload ?? 0)),
  state: (rows) => rows.toSorted((a, b) => rankOf(a) - rankOf(b)),
} as const satisfies Record<string, (rows: FleetRow[]) => FleetRow[]>;

export const isOrder = (value: string): value is keyof typeof ORDERS =>
  Object.hasOwn(ORDERS, value);

/** How many devices are in each state. */
export function countStates(rows: FleetRow[], now: number): Record<State, number> {
  const count = (is: Is): number => rows.reduce((sum, row) => sum + Number(is(row, now)), 0);
  const entries = Object.entries(STATES).map(([state, is]) => [state, count(is)]);
  return Object.fromEntries(entries) as Record<State, number>;
}

/** The texts in it come from a server that may be anyone's. */
function displayable(row: FleetRow): FleetRow {
  const { name, channel, lastError, latest, groups, type, alarms } = row;
  return {
    ...row,
    name: name === null ? null : plain(name),
    channel: channel?.reason ? { ...channel, reason: plain(channel.reason) } : channel,
    lastError: lastError && { ...lastError, message: plain(lastError.message) },
    ...(latest === undefined ? {} : { latest: plain(latest) }),
    ...(groups === undefined ? {} : { groups: groups.map(plain) }),
    ...(type === undefined ? {} : { type: plain(type) }),
    ...(alarms === undefined
      ? {}
      : { alarms: alarms.map((alarm) => ({ ...alarm, limit: plain(alarm.limit) })) }),
  };
}

/** A name with its numbers padded, so that the order of the letters is the order of the numbers, too. */
const sortKey = (name: string): string =>
  name.replace(/\d+/g, (digits) => digits.padStart(16, '0'));

/** What an answer says of the application, beside its devices. */
type AppState = Omit<FleetAnswer, 'devices' | 'removed' | 'complete'>;

/** What is known of the application that is shown, and of its devices. */
export class Fleet {
  /** Undefined until it has answered. */
  app: AppState | undefined;
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
    this.app = undefined;
    this.#rows.clear();
    this.#order = undefined;
  }

  apply({ devices, removed, complete, ...state }: FleetAnswer): void {
    if (complete === true) this.clear();
    this.app = state;
    for (const device of devices) {
      const row = displayable(device);
      const before = this.#rows.get(row.chipid);
      if (!before || before.name !== row.name || before.missing !== row.missing)
        this.#order = undefined;
      this.#rows.set(row.chipid, row);
    }
    for (const chipid of removed) if (this.#rows.delete(chipid)) this.#order = undefined;
  }

  /** All devices: those with a name by name, then the others by number; those that were never seen come last. */
  rows(): FleetRow[] {
    this.#order ??= this.#sorted();
    return this.#order.flatMap((chipid) => this.#rows.get(chipid) ?? []);
  }

  #sorted(): string[] {
    // Not `numeric`, which takes twice as long; a sort of 5,000 names is most of what the first rows wait for.
    const { compare } = new Intl.Collator();
    const named: { sort: string; row: FleetRow }[] = [];
    const others: FleetRow[] = [];
    for (const row of this.#rows.values()) {
      if (row.name === null) others.push(row);
      else named.push({ sort: sortKey(row.name), row });
    }
    // Digits without zeros in front: the longer one is the greater one.
    const byNumber = (a: FleetRow, b: FleetRow): number =>
      a.chipid.length - b.chipid.length || (a.chipid < b.chipid ? -1 : 1);
    named.sort((a, b) => compare(a.sort, b.sort) || byNumber(a.row, b.row));
    others.sort(byNumber);
    const all = [...named.map(({ row }) => row), ...others];
    const rank = ({ missing }: FleetRow): number => Number(missing === true);
    return all.sort((a, b) => rank(a) - rank(b)).map(({ chipid }) => chipid);
  }
}
