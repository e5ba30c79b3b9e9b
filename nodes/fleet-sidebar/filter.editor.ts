import type { FleetRow } from './fleet.editor';

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
  'channel-down': ({ channel }) =>
    channel !== null && channel.state !== 'connected' && channel.state !== 'elsewhere',
  waiting: ({ waiting }) => waiting > 0,
  error: ({ lastError }) => lastError !== null,
} as const satisfies Record<string, Is>;

export type State = keyof typeof STATES;

export const isState = (value: string): value is State => Object.hasOwn(STATES, value);

/** The devices of a state whose name or number has a text in it. */
export function matching(rows: FleetRow[], text: string, state: State, now: number): FleetRow[] {
  const wanted = text.trim().toLowerCase();
  const is: Is = STATES[state];
  return rows.filter(
    (row) =>
      is(row, now) &&
      (row.chipid.includes(wanted) || (row.name?.toLowerCase().includes(wanted) ?? false)),
  );
}

/** How many devices are in each state. */
export function countStates(rows: FleetRow[], now: number): Record<State, number> {
  const count = (is: Is): number => rows.reduce((sum, row) => sum + Number(is(row, now)), 0);
  const entries = Object.entries(STATES).map(([state, is]) => [state, count(is)]);
  return Object.fromEntries(entries) as Record<State, number>;
}
