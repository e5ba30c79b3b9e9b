import type { Comparison } from './compare';
import type { Column, Goal, Result, Scenario } from './scenario';
import { ratios, summarize, type Summary } from './statistics';

type Format = Pick<Column, 'unit' | 'digits'>;

const RATIO: Format = { unit: '×', digits: 2 };

const number = (value: number, { digits }: Format): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** The median, and the least to the most if they differ. */
function range({ median, least, most }: Summary, format: Format): string {
  const [middle, low, high] = [median, least, most].map((value) => number(value, format));
  return `${middle} ${format.unit}${low === high ? '' : ` (${low}–${high})`}`.replace(' ×', '×');
}

/** A table in Markdown: the first column to the left, the others to the right. */
function grid(rows: readonly (readonly string[])[]): string {
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

const BAR = 40;

const unitOf = ({ columns }: Scenario, key: string): string =>
  columns.find((column) => column.key === key)?.unit ?? '';

/** Holds the ratio of two subjects against its goal. */
function goalText(
  { scenario, rows }: Result,
  { of, by, column, most, least, enough = 0 }: Goal,
): string {
  const valuesOf = (subject: string): number[] =>
    rows.find(({ name }) => name === subject)?.values[column] ?? [];
  const summary = summarize(ratios(valuesOf(of), valuesOf(by)));
  const inRange = summary.median <= (most ?? Infinity) && summary.median >= (least ?? 0);
  const reached = inRange || summarize(valuesOf(of)).median <= enough;
  const ratio = most === undefined ? `at least ${least}` : `at most ${most}`;
  const goal = enough === 0 ? ratio : `${ratio}, or ${enough} ${unitOf(scenario, column)}`;
  const verdict = reached ? 'reached' : 'not reached';
  return `- ${scenario.name}, ${column}: ${of} by ${by} ${range(summary, RATIO)}, goal ${goal}: ${verdict}`;
}

/** A scenario: its subjects in rows, what was measured in columns, the first of them as bars; its goals. */
export function resultText(result: Result): string {
  const { title, columns, goals } = result.scenario;
  const summaries = result.rows.map(({ values }) =>
    columns.map(({ key }) => summarize(values[key] ?? [])),
  );
  const longest = Math.max(...summaries.map(([first]) => first?.median ?? 0));
  const table = result.rows.map(({ label }, row) => {
    const summary = summaries[row] ?? [];
    const bar = '█'.repeat(Math.round(((summary[0]?.median ?? 0) / longest) * BAR)).padEnd(BAR);
    return [label, ...columns.map((column, i) => range(summary[i] ?? summarize([]), column)), bar];
  });
  const head = ['', ...columns.map(({ label }) => label), ''];
  const lines = goals.map((goal) => goalText(result, goal));
  return [`### ${title}`, '', grid([head, ...table]), '', ...lines].join('\n').trimEnd();
}

/** The comparison of a column with the one of an earlier version. */
export const comparisonText = ({ what, ratio, same, verdict }: Comparison): string =>
  `- ${what}: ${range(ratio, RATIO)}, without a change ${range(same, RATIO)}: ${verdict}`;
