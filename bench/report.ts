import type { Comparison } from './compare';
import type { Column, Goal, Result, Row, Scenario } from './scenario';
import { ratios, summarize, type Summary } from './statistics';

type Format = Pick<Column, 'unit' | 'digits'>;

/** Stands for a number that there is not yet. */
export const NOT_MEASURED = 'not measured yet';

export const RATIO: Format = { unit: '×', digits: 2 };

/** A number with its unit, as the tables and the page show it. */
export function quantity(value: number, { unit, digits }: Format): string {
  if (Number.isNaN(value)) return '–';
  const places = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const space = unit === '' || unit === '×' ? '' : ' ';
  return `${value.toLocaleString('en-US', places)}${space}${unit}`;
}

/** The median, and the least to the most if they differ. */
function range({ median, least, most }: Summary, format: Format): string {
  const bare = { ...format, unit: '' };
  const [low, high] = [quantity(least, bare), quantity(most, bare)];
  return quantity(median, format) + (low === high ? '' : ` (${low}–${high})`);
}

/** A table in Markdown: the first column to the left, the others to the right. */
export function grid(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, i) => Math.max(3, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]): string => {
    const width = (i: number): number => widths?.[i] ?? 0;
    const cells = row.map((text, i) => (i === 0 ? text.padEnd(width(i)) : text.padStart(width(i))));
    return `| ${cells.join(' | ')} |`;
  };
  const rule = widths?.map((width, i) =>
    i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  const [head = [], ...body] = rows;
  return [head, rule ?? [], ...body].map(line).join('\n');
}

/** What was measured of a subject in a column, by what was measured of another if one is named. */
export function valuesOf(rows: readonly Row[], column: string, of: string, by?: string): number[] {
  const read = (subject: string): number[] =>
    rows.find(({ name }) => name === subject)?.values[column] ?? [];
  return by === undefined ? read(of) : ratios(read(of), read(by));
}

/** A goal, and how far the measured subject is from it. */
export interface GoalResult {
  work: string;
  goal: string;
  measured: string;
  verdict: 'reached' | '**not reached**' | '';
}

const columnOf = ({ columns }: Scenario, key: string): Format & { label: string } =>
  columns.find((column) => column.key === key) ?? { label: key, unit: '', digits: 2 };

/** What a goal demands, in words. */
function goalText(scenario: Scenario, { by, column: key, most, least }: Goal): string {
  const column = columnOf(scenario, key);
  const { unit } = by === undefined ? column : RATIO;
  const limit = most === undefined ? `≥ ${least}` : `≤ ${most}`;
  const measure = scenario.subjects.find(({ name }) => name === by);
  const parts = [column.label, limit + (unit === '×' ? unit : ` ${unit}`), measure?.label];
  return parts.filter((part) => part !== undefined).join(' ');
}

/** Holds what was measured, if it was, against a goal. */
export function goalResult(scenario: Scenario, goal: Goal, rows?: readonly Row[]): GoalResult {
  const { of, by, column, most, least } = goal;
  const work = scenario.title;
  const text = goalText(scenario, goal);
  const values = rows ? valuesOf(rows, column, of) : [];
  if (!rows || values.length === 0)
    return { work, goal: text, measured: NOT_MEASURED, verdict: '' };
  const value = summarize(values);
  const ratio = summarize(valuesOf(rows, column, of, by));
  const isReached = most === undefined ? ratio.median >= (least ?? 0) : ratio.median <= most;
  return {
    ...{ work, goal: text },
    measured: by === undefined ? range(value, columnOf(scenario, column)) : range(ratio, RATIO),
    verdict: isReached ? 'reached' : '**not reached**',
  };
}

/** A scenario's table: its subjects in rows, what was measured in columns. */
export function resultTable({ scenario, rows }: Result): string {
  const head = ['', ...scenario.columns.map(({ label }) => label)];
  const lines = rows.map(({ label, values }) => [
    label,
    ...scenario.columns.map((column) => range(summarize(values[column.key] ?? []), column)),
  ]);
  return grid([head, ...lines]);
}

/** A scenario with its table and its goals. */
export function resultText(result: Result): string {
  const goals = result.scenario.goals.map((each) => {
    const { work, goal, measured, verdict } = goalResult(result.scenario, each, result.rows);
    return `- ${work}: ${goal}; measured ${measured}: ${verdict}`;
  });
  const { title } = result.scenario;
  return [`### ${title}`, '', resultTable(result), '', ...goals].join('\n').trimEnd();
}

/** The comparison of a column with the one of an earlier version. */
export const comparisonText = ({ what, ratio, verdict }: Comparison): string =>
  `- ${what}${ratio ? `: ${range(ratio, RATIO)}` : ''}: ${verdict}`;
