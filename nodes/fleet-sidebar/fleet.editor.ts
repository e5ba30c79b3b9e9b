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

/** What the list shows. */
export interface Filter {
  /** In the name, the number or the latest values. */
  text: string;
  state: State;
  /** `group:` or `type:` and its name; empty: all. */
  kind: string;
}

/** The devices that a filter lets through. */
export function matching(
  rows: FleetRow[],
  { text: typed, state, kind }: Filter,
  now: number,
): FleetRow[] {
  const wanted = typed.trim().toLowerCase();
  const is: Is = STATES[state];
  return rows.filter(
    (row) =>
      is(row, now) &&
      (kind === '' || kindsOf(row).includes(kind)) &&
      [row.chipid, row.name, row.latest].some((text) => text?.toLowerCase().includes(wanted)),
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

/** The groups and the type of a device, as a filter names them. */
const kindsOf = ({ groups = [], type }: FleetRow): string[] => [
  ...groups.map((group) => `group:${group}`),
  ...(type === undefined ? [] : [`type:${type}`]),
];

/** All groups and types of the devices, sorted, and how many devices are of each. */
export function countKinds(rows: FleetRow[]): [kind: string, number: number][] {
  const counts = new Map<string, number>();
  for (const row of rows)
    for (const kind of kindsOf(row)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  return [...counts].sort(([a], [b]) => compare(a, b));
}

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

/** What is known of the devices of the chosen application. */
export class Fleet {
  /** Whether the application has a device book; undefined until that is known. */
  hasBook: boolean | undefined;
  /** How many uploads wait for an acknowledgement, and since when the first does. */
  unacknowledged: FleetAnswer['unacknowledged'];
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
    this.hasBook = this.unacknowledged = undefined;
    this.#rows.clear();
    this.#order = undefined;
  }

  apply({ devices, removed, complete, book, unacknowledged }: FleetAnswer): void {
    if (complete === true) this.clear();
    this.hasBook = book === true;
    this.unacknowledged = unacknowledged;
    for (const given of devices) {
      const row = displayable(given);
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
    const all = [...named, ...others].map(({ chipid }) => chipid);
    const isMissing = (chipid: string): boolean => this.#rows.get(chipid)?.missing === true;
    return [...all.filter((chipid) => !isMissing(chipid)), ...all.filter(isMissing)];
  }
}
