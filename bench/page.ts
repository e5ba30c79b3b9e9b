import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goalResult, grid, NOT_MEASURED, quantity, RATIO, valuesOf } from './report';
import type { GoalResult } from './report';
import { readResults, type Measured } from './results';
import type { Scenario } from './scenario';
import { summarize } from './statistics';
import { repository } from '../test/tooling/repository';

/*
 * docs/inside/performance.md: the text of bench/page.md with the numbers of bench/results. `{{push ours cpu}}` is
 * a median, `{{push ours/floor cpu}}` a ratio; `{{goals}}` and `{{verdicts}}` are what they say.
 */

const TEMPLATE = join(repository, 'bench', 'page.md');
const PAGE = join(repository, 'docs', 'inside', 'performance.md');

const goalRows = (scenarios: readonly Scenario[], results: readonly Measured[]): GoalResult[] =>
  scenarios.flatMap((scenario) => {
    const found = results.find((result) => result.scenario === scenario);
    return scenario.goals.map((goal) => goalResult(scenario, goal, found?.rows));
  });

const goalTable = (rows: readonly GoalResult[]): string =>
  grid([
    ['work', 'goal', 'measured', ''],
    ...rows.map((row) => [row.work, row.goal.trim(), row.measured, row.verdict]),
  ]);

/** How many goals are reached: the rest of a sentence that begins with "Of 23 goals,". */
function verdictText(rows: readonly GoalResult[]): string {
  const reached = rows.filter(({ verdict }) => verdict === 'reached').length;
  return reached === rows.length ? 'all are reached' : `${reached} are reached`;
}

/** A number in a sentence. */
function inText(results: readonly Measured[], expression: string): string {
  const [name, subjects = '', key] = expression.split(' ');
  const result = results.find(({ scenario }) => scenario.name === name);
  const column = result?.scenario.columns.find((each) => each.key === key);
  if (!result || !column) return `(${NOT_MEASURED})`;
  const [of = '', by] = subjects.split('/');
  const { median } = summarize(valuesOf(result.rows, column.key, of, by));
  if (by === undefined) return quantity(median, column);
  return quantity(median, { ...RATIO, unit: '', digits: median < 10 ? 2 : 1 });
}

/** The page. What an expression names and nobody has measured yet, it says. */
export function pageText(
  template: string,
  scenarios: readonly Scenario[],
  results: readonly Measured[],
): string {
  const rows = goalRows(scenarios, results);
  const parts: Record<string, string> = {
    goals: goalTable(rows),
    count: String(rows.length),
    verdicts: verdictText(rows),
  };
  return template.replace(
    /\{\{(.+?)\}\}/g,
    (_, expression: string) => parts[expression] ?? inText(results, expression),
  );
}

/** Writes the page anew. */
export function writePage(scenarios: readonly Scenario[]): void {
  const results = readResults(scenarios);
  writeFileSync(PAGE, pageText(readFileSync(TEMPLATE, 'utf8'), scenarios, results));
}
