import type { Comparison } from './compare';
import type { Column, Goal, Result, Scenario } from './scenario';
import { ratios, summarize, type Summary } from './statistics';

type Format = Pick<Column, 'unit' | 'digits'>;

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
export function valuesOf({ rows }: Result, column: string, of: string, by?: string): number[] {
  const read = (subject: string): number[] =>
    rows.find(({ name }) => name === subject)?.values[column] ?? [];
  return by === undefined ? read(of) : ratios(read(of), read(by));
}

/** A goal, and how far the measured subject is from it. */
export interface GoalResult {
  work: string;
  goal: string;
  measured: string;
  reached: boolean;
  /** How much of the goal is used up: above 1, it is not reached. */
  used: number;
}

const columnOf = ({ columns }: Scenario, key: string): Format & { label: string } =>
  columns.find((column) => column.key === key) ?? { label: key, unit: '', digits: 2 };

/** What a goal demands, in words. */
export function goalText(scenario: Scenario, goal: Goal): string {
  const column = columnOf(scenario, goal.column);
  const format = goal.by === undefined ? column : RATIO;
  const sign = goal.most === undefined ? '≥' : '≤';
  const ratio = `${column.label} ${sign} ${quantity(goal.most ?? goal.least ?? NaN, format)}`;
  const measure = scenario.subjects.find(({ name }) => name === goal.by);
  const enough = goal.enough === undefined ? '' : `, or ${quantity(goal.enough, column)}`;
  return `${ratio}${measure ? ` ${measure.label}` : ''}${enough}`;
}

/** Holds what was measured against a goal. */
export function goalResult(result: Result, goal: Goal): GoalResult {
  const { of, by, column, most, least } = goal;
  const { scenario } = result;
  const summary = summarize(valuesOf(result, column, of, by));
  const plain = summarize(valuesOf(result, column, of));
  const format = by === undefined ? columnOf(scenario, column) : RATIO;
  const ratio = most === undefined ? (least ?? NaN) / summary.median : summary.median / most;
  const used = Math.min(...[ratio, plain.median / (goal.enough ?? 0)].filter((n) => !isNaN(n)));
  return {
    work: goal.work ?? scenario.title,
    goal: goalText(scenario, goal),
    measured: Number.isNaN(summary.median)
      ? range(plain, columnOf(scenario, column))
      : range(summary, format),
    reached: used <= 1,
    used,
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
    const { work, goal, measured, reached } = goalResult(result, each);
    return `- ${work}: ${goal}; measured ${measured}: ${reached ? 'reached' : 'not reached'}`;
  });
  const { title } = result.scenario;
  return [`### ${title}`, '', resultTable(result), '', ...goals].join('\n').trimEnd();
}

/** The comparison of a column with the one of an earlier version. */
export const comparisonText = ({ what, ratio, verdict }: Comparison): string =>
  `- ${what}${ratio ? `: ${range(ratio, RATIO)}` : ''}: ${verdict}`;
