/** A number that is measured of each contender. */
export interface Column {
  key: string;
  label: string;
  unit: string;
  digits: number;
}

/** What a contender is. */
export type Role = 'limit' | 'floor' | 'today' | 'ours';

/** One contender: of each column a value for each round. */
export interface Row {
  contender: string;
  label: string;
  role: Role;
  values: Record<string, number[]>;
}

/** One work that all its contenders do. */
export interface Table {
  id: string;
  title: string;
  columns: Column[];
  rows: Row[];
  /** What a reader has to know about this run. */
  notes?: string[];
}

/** What was measured held against what is to be reached. */
export interface Check {
  id: string;
  text: string;
  /** One for each round. */
  values: number[];
  unit: string;
  digits: number;
  most?: number;
  least?: number;
}

/** The machine and the versions. */
export interface Setting {
  date: string;
  plan: string;
  package: string;
  node: string;
  nodeRed: string;
  cpu: string;
  cores: number;
}

/** Everything a run has found. */
export interface Results {
  setting: Setting;
  tables: Table[];
  checks: Check[];
}

/** What both have, in the order of the earlier: of each work and check the later's, if it has it. */
function mergeById<T extends { id: string }>(earlier: readonly T[], later: readonly T[]): T[] {
  const all = new Map([...earlier, ...later].map((each) => [each.id, each]));
  return [...all.values()];
}

/**
 * Puts what was measured again in its place among what was measured before.
 * @throws Error if it was another machine or another version, whose numbers do not go together
 */
export function merge(earlier: Results, later: Results): Results {
  for (const name of ['cpu', 'cores', 'node', 'nodeRed'] as const) {
    const [before, now] = [earlier.setting[name], later.setting[name]];
    if (before !== now) {
      throw new Error(`What is recorded is of ${name} ${before}, this run of ${now}: record a whole run.`); // prettier-ignore
    }
  }
  return {
    setting: later.setting,
    tables: mergeById(earlier.tables, later.tables),
    checks: mergeById(earlier.checks, later.checks),
  };
}

/** A row that has no value yet. */
export const newRow = (contender: string, label: string, role: Role): Row => ({
  ...{ contender, label, role },
  values: {},
});

/** Adds what a round has given. */
export function addRound(row: Row | undefined, round: Readonly<Record<string, number>>): void {
  if (!row) throw new Error('There is no row for what was measured.');
  for (const [key, value] of Object.entries(round)) (row.values[key] ??= []).push(value);
}

/** Whether a contender took part in a work. */
export const tookPart = ({ rows }: Table, contender: string): boolean =>
  rows.some((row) => row.contender === contender);

/** The values of a column of a contender. @throws Error if there are none */
export function valuesOf(table: Table, contender: string, key: string): number[] {
  const values = table.rows.find((row) => row.contender === contender)?.values[key];
  if (!values) throw new Error(`${table.id} has no ${key} of ${contender}.`);
  return values;
}

/** One contender's values by another's, round by round. */
export function ratios(table: Table, contender: string, other: string, key: string): number[] {
  const divisors = valuesOf(table, other, key);
  return valuesOf(table, contender, key).map((value, round) => value / (divisors[round] ?? NaN));
}
