import type { AppChoice, AppProblem, FleetAnswer, FleetRow } from '../app/answers.config';
import { appPath, getRoute } from '../common/editor/routes';
import { plainAll } from '../common/editor/texts';

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

/** The devices in a state with a text in the name, the number, the latest values, the groups or the type. */
export function matching(rows: Row[], typed: string, state: State, now: number): Row[] {
  const wanted = typed.trim().toLowerCase();
  const is: Is = STATES[state];
  return rows.filter((row) => {
    const { chipid, name, latest, groups = [], type } = row;
    const texts = [chipid, name, latest, ...groups, type];
    return is(row, now) && texts.some((text) => text?.toLowerCase().includes(wanted));
  });
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
} as const satisfies Record<string, (rows: Row[]) => Row[]>;

/** How many devices are in each state. */
export function countStates(rows: FleetRow[], now: number): Record<State, number> {
  const count = (is: Is): number => rows.reduce((sum, row) => sum + Number(is(row, now)), 0);
  const entries = Object.entries(STATES).map(([state, is]) => [state, count(is)]);
  return Object.fromEntries(entries) as Record<State, number>;
}

/** A name with its numbers padded, so that the order of the letters is the order of the numbers, too. */
const sortKey = (name: string): string =>
  name.replace(/\d+/g, (digits) => digits.padStart(16, '0'));

/** A device of the list, with its application. */
export interface Row extends FleetRow {
  app: string;
  /** Of all rows. */
  key: string;
}

/** What an answer says of an application, beside its devices. */
type AppState = Omit<FleetAnswer, 'devices' | 'removed' | 'complete'>;

const keyOf = (app: string, chipid: string): string => `${chipid}-${app}`;

/** What is known of the applications that are shown, and of their devices. */
export class Fleet {
  /** By application, once it has answered. */
  readonly apps = new Map<string, AppState>();
  readonly #rows = new Map<string, Row>();
  /** Keys in the order they are shown in; undefined if that has to be worked out. */
  #order: string[] | undefined;

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  find(app: string, chipid: string): Row | undefined {
    return this.#rows.get(keyOf(app, chipid));
  }

  clear(): void {
    this.apps.clear();
    this.#rows.clear();
    this.#order = undefined;
  }

  apply(app: string, { devices, removed, complete, ...state }: FleetAnswer): void {
    if (complete === true) this.#remove([...this.#rows.values()].filter((row) => row.app === app));
    this.apps.set(app, state);
    for (const device of devices) {
      const key = keyOf(app, device.chipid);
      const row = { ...device, app, key };
      const before = this.#rows.get(key);
      if (!before || before.name !== row.name || before.missing !== row.missing)
        this.#order = undefined;
      this.#rows.set(key, row);
    }
    this.#remove(removed.flatMap((chipid) => this.find(app, chipid) ?? []));
  }

  /** All devices: those with a name by name, then the others by number; those that were never seen come last. */
  rows(): Row[] {
    this.#order ??= this.#sorted();
    return this.#order.flatMap((key) => this.#rows.get(key) ?? []);
  }

  /** How many uploads wait for an acknowledgement, and since when the first does. */
  unacknowledged(): { count: number; since: number } {
    const all = [...this.apps.values()].flatMap((state) => state.unacknowledged ?? []);
    const count = all.reduce((sum, each) => sum + each.count, 0);
    return { count, since: Math.min(...all.map(({ since }) => since)) };
  }

  /** How each application is among the processes that share its devices. */
  clusters(): { app: string; cluster: NonNullable<FleetAnswer['cluster']> }[] {
    return [...this.apps].flatMap(([app, { cluster }]) => (cluster ? [{ app, cluster }] : []));
  }

  problems(): { app: string; problem: AppProblem }[] {
    return [...this.apps].flatMap(([app, { problems = [] }]) =>
      problems.map((problem) => ({ app, problem })),
    );
  }

  /** Devices that are online or have uploaded, and have no row in the book of their application. */
  absent(): Row[] {
    // The book has rows for those that have groups, even if none.
    return this.rows().filter(
      ({ app, online, lastUpload, groups }) =>
        groups === undefined &&
        (online === true || lastUpload !== null) &&
        this.apps.get(app)?.book !== undefined,
    );
  }

  #remove(rows: Row[]): void {
    for (const { key } of rows) if (this.#rows.delete(key)) this.#order = undefined;
  }

  #sorted(): string[] {
    // Not `numeric`, which takes twice as long; a sort of 5,000 names is most of what the first rows wait for.
    const { compare } = new Intl.Collator();
    const named: { sort: string; row: Row }[] = [];
    const others: Row[] = [];
    for (const row of this.#rows.values()) {
      if (row.name === null) others.push(row);
      else named.push({ sort: sortKey(row.name), row });
    }
    // Digits without zeros in front: the longer one is the greater one.
    const byNumber = (a: Row, b: Row): number =>
      a.chipid.length - b.chipid.length || (a.chipid < b.chipid ? -1 : 1);
    named.sort((a, b) => compare(a.sort, b.sort) || byNumber(a.row, b.row));
    others.sort(byNumber);
    const all = [...named.map(({ row }) => row), ...others];
    const rank = ({ missing }: Row): number => Number(missing === true);
    return all.sort((a, b) => rank(a) - rank(b)).map(({ key }) => key);
  }
}

/** The applications that run. */
export async function readApplications(): Promise<AppChoice[]> {
  const body: unknown = await getRoute('apps');
  return body as AppChoice[];
}

/** What the editor calls an application. */
export const applicationName = ({ id, name }: AppChoice): string => {
  const node = RED.nodes.node(id);
  return name || (node ? RED.utils.getNodeLabel(node, id) : id);
};

/** Milliseconds from an answer to the next request: what has not changed is not sent again. */
const POLL = 2000;
/** The longest pause after failures. */
const LONGEST = 60_000;

/** A server's clock within a few seconds of this one counts as equal, and this one is more precise. */
function clockAhead(date: string | null): number {
  const ahead = Date.parse(date ?? '') - Date.now();
  return Math.abs(ahead) > 3000 ? ahead : 0;
}

/** Asks for the fleet of an application for as long as it is shown. */
export class Feed {
  #revision = 0;
  #failures = 0;
  #timer = 0;
  /** The request whose answer counts. */
  #asking: symbol | undefined;
  readonly #app: string;
  readonly #onAnswer: (answer: FleetAnswer, ahead: number) => void;
  readonly #onFailure: (failure: unknown) => void;

  /** @param onAnswer `ahead` is by how many milliseconds the server's clock is ahead of this one */
  constructor(
    app: string,
    onAnswer: (answer: FleetAnswer, ahead: number) => void,
    onFailure: (failure: unknown) => void,
  ) {
    this.#app = app;
    this.#onAnswer = onAnswer;
    this.#onFailure = onFailure;
  }

  resume(): void {
    this.#failures = 0;
    if (!this.#asking) this.#ask();
  }

  /** The panel is hidden: no request is made, and the answer to the last one is ignored. */
  hide(): void {
    clearTimeout(this.#timer);
    this.#asking = undefined;
  }

  #ask(): void {
    clearTimeout(this.#timer);
    const asking = (this.#asking = Symbol());
    getRoute(`${appPath(this.#app, 'fleet')}?since=${this.#revision}`).then(
      (body: unknown, _status: string, answer: JQueryXHR) => {
        if (this.#asking !== asking) return;
        // Its texts come from a server that may be anyone's.
        const changes = plainAll(body as FleetAnswer);
        this.#revision = changes.revision;
        this.#failures = 0;
        this.#onAnswer(changes, clockAhead(answer.getResponseHeader('Date')));
        this.#next(POLL);
      },
      (failure: unknown) => {
        if (this.#asking !== asking) return;
        this.#onFailure(failure);
        this.#next(Math.min(LONGEST, POLL * 2 ** this.#failures++));
      },
    );
  }

  #next(pause: number): void {
    this.#asking = undefined;
    this.#timer = window.setTimeout(() => this.#ask(), pause);
  }
}
