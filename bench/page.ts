import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { picture } from './picture';
import { goalResult, grid, NOT_MEASURED, quantity, RATIO, resultTable, valuesOf } from './report';
import type { GoalResult } from './report';
import { readResults, RECORDED, settingText, type Measured } from './results';
import type { Scenario } from './scenario';
import { summarize } from './statistics';
import { repository } from '../test/tooling/repository';

/*
 * docs/inside/performance.md: the text of bench/page.md with the numbers of bench/results. `{{push ours cpu}}` is
 * a median, `{{push ours/floor cpu}}` a ratio; `{{goals}}`, `{{verdicts}}` and `{{tables}}` are what they say.
 */

const TEMPLATE = join(repository, 'bench', 'page.md');
const PAGE = join(repository, 'docs', 'inside', 'performance.md');
const PICTURE = join(repository, 'docs', 'images', 'performance.svg');

type GoalRow = GoalResult & { commit: string };

/** The table's rows: of goals of the same work, the one that is closest to its limit. */
function goalRows(scenarios: readonly Scenario[], results: readonly Measured[]): GoalRow[] {
  const rows = new Map<string, GoalRow>();
  for (const scenario of scenarios) {
    const found = results.find((result) => result.scenario === scenario);
    for (const goal of scenario.goals) {
      const row = goalResult(scenario, goal, found?.rows);
      const key = goal.work ?? `${row.work}: ${row.goal}`;
      const isClosest = row.used >= (rows.get(key)?.used ?? 0);
      if (isClosest) rows.set(key, { ...row, commit: found?.setting.commit ?? '' });
    }
  }
  return [...rows.values()];
}

const goalTable = (rows: readonly GoalRow[]): string =>
  grid([
    ['work', 'goal', 'measured', '', 'at commit'],
    ...rows.map((row) => [row.work, row.goal.trim(), row.measured, row.verdict, row.commit]),
  ]);

const section = (result: Measured): string =>
  `### ${result.scenario.title}\n\n${resultTable(result)}\n\n${settingText(result.setting)}.`;

/** How many goals are reached and how many are not; the rest of a sentence that begins with "Of 23 goals,". */
function verdictText(verdicts: readonly GoalResult['verdict'][]): string {
  const count = (of: GoalResult['verdict']): number =>
    verdicts.filter((verdict) => verdict === of).length;
  const [reached, missed, open] = [count('reached'), count('**not reached**'), count('')];
  if (missed + open === 0) return 'all are reached';
  if (open === 0) return `${reached} are reached and ${missed} are not`;
  return `${reached} are reached, ${missed} are not, and ${open} are ${NOT_MEASURED}`;
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
    verdicts: verdictText(rows.map(({ verdict }) => verdict)),
    tables: results.map(section).join('\n\n') || 'Nothing is recorded yet.',
  };
  return template.replace(
    /\{\{(.+?)\}\}/g,
    (_, expression: string) => parts[expression] ?? inText(results, expression),
  );
}

/** Writes the page and its picture anew. */
export function writePage(scenarios: readonly Scenario[]): void {
  const results = readResults(scenarios, RECORDED);
  writeFileSync(PAGE, pageText(readFileSync(TEMPLATE, 'utf8'), scenarios, results));
  writeFileSync(PICTURE, picture(results));
}
