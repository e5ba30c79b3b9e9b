import { table as twoColumns } from '../../test/soak/table';
import type { Check, Column, Results, Setting, Table } from './results';
import { least, median, most } from './statistics';

const number = (value: number, digits: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

const withUnit = (text: string, unit: string): string =>
  unit === '' || unit === '×' ? text + unit : `${text} ${unit}`;

/** The median, and from the least to the most when there are several. */
function cell(
  values: readonly number[] | undefined,
  { unit, digits }: Omit<Column, 'key' | 'label'>,
): string {
  if (!values || values.length === 0) return '';
  const middle = withUnit(number(median(values), digits), unit);
  const [low, high] = [number(least(values), digits), number(most(values), digits)];
  return low === high ? middle : `${middle} (${low} to ${high})`;
}

function grid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, 3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((text, column) =>
      column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
    );
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, i) =>
    i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** One work as a table. */
export function tableText({ title, columns, rows, notes = [] }: Table): string {
  const heads = ['', ...columns.map(({ label }) => label)];
  const lines = rows.map(({ label, values }) => [
    label,
    ...columns.map((column) => cell(values[column.key], column)),
  ]);
  return [`### ${title}`, '', grid(heads, lines), ...notes.flatMap((note) => ['', note])].join(
    '\n',
  );
}

/** Whether what was measured is what is to be reached; undefined if nothing is. */
export function isReached({ values, most: top, least: bottom }: Check): boolean | undefined {
  if (top === undefined && bottom === undefined) return undefined;
  const value = median(values);
  return value <= (top ?? Infinity) && value >= (bottom ?? -Infinity);
}

function goal({ most: top, least: bottom, unit, digits }: Check): string {
  if (top !== undefined) return `at most ${withUnit(number(top, digits), unit)}`;
  return bottom === undefined ? '' : `at least ${withUnit(number(bottom, digits), unit)}`;
}

const inWords = (reached: boolean | undefined): string =>
  reached === undefined ? '' : reached ? 'yes' : '**no**';

/** What is to be reached, and what was. */
export function checksText(checks: readonly Check[]): string {
  const rows = checks.map((check) => [
    check.text,
    goal(check),
    cell(check.values, check),
    inWords(isReached(check)),
  ]);
  return ['### To reach', '', grid(['', 'goal', 'measured', 'reached'], rows)].join('\n');
}

function settingText(setting: Setting): string {
  const rows = Object.entries(setting).map(([name, value]) => [name, String(value)] as const);
  return twoColumns('setting', rows);
}

/** Everything, as it can stand in a document. */
export const resultsText = ({ setting, tables, checks }: Results): string =>
  [checksText(checks), ...tables.map(tableText), settingText(setting)].join('\n\n') + '\n';
