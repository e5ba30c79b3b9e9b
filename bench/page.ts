import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './identity';
import { picture } from './picture';
import { goalResult, goalText, grid, quantity, RATIO, resultTable, valuesOf } from './report';
import { readResults, RECORDED, settingText, type Measured } from './results';
import type { Scenario } from './scenario';
import { summarize } from './statistics';

/*
 * docs/performance.md: the text of bench/page.md with the numbers of bench/results. `{{push ours cpu}}` is
 * a median, `{{push ours/floor cpu}}` a ratio; `{{goals}}`, `{{missed}}` and `{{tables}}` are what they say.
 */

const TEMPLATE = join(repository, 'bench', 'page.md');
const PAGE = join(repository, 'docs', 'performance.md');
const PICTURE = join(repository, 'docs', 'images', 'performance.svg');
const NOT_MEASURED = 'not measured yet';

/** A row of the table of goals. */
interface GoalRow {
  work: string;
  goal: string;
  measured: string;
  verdict: string;
  setting: string;
}

/** One row for each goal; of goals of the same work, the one that is closest to its limit. */
function goalRows(scenarios: readonly Scenario[], results: readonly Measured[]): GoalRow[] {
  const rows = new Map<string, GoalRow & { used: number }>();
  for (const scenario of scenarios) {
    const measured = results.find((result) => result.scenario === scenario);
    for (const goal of scenario.goals) {
      const work = goal.work ?? scenario.title;
      const text = goalText(scenario, goal);
      const key = goal.work ?? `${work}: ${text}`;
      const setting = measured?.setting.commit ?? '';
      const none = { work, goal: text, measured: NOT_MEASURED, verdict: '', setting, used: 0 };
      const result = measured && goalResult(measured, goal);
      const row = result
        ? { ...result, verdict: result.reached ? 'reached' : '**not reached**', setting }
        : none;
      if (row.used >= (rows.get(key)?.used ?? 0)) rows.set(key, row);
    }
  }
  return [...rows.values()];
}

function goalTable(rows: readonly GoalRow[]): string {
  const head = ['work', 'goal', 'measured', '', 'at commit'];
  const cells = rows.map(({ work, goal, measured, verdict, setting }) => [
    ...[work, goal, measured, verdict, setting],
  ]);
  return grid([head, ...cells]);
}

const section = (result: Measured): string =>
  `### ${result.scenario.title}\n\n${resultTable(result)}\n\n${settingText(result.setting)}.`;

/** A number in a sentence. */
function inText(results: readonly Measured[], expression: string): string {
  const [name, subjects = '', key] = expression.split(' ');
  const result = results.find(({ scenario }) => scenario.name === name);
  const column = result?.scenario.columns.find((each) => each.key === key);
  if (!result || !column) return `(${NOT_MEASURED})`;
  const [of = '', by] = subjects.split('/');
  const { median } = summarize(valuesOf(result, column.key, of, by));
  if (by === undefined) return quantity(median, column);
  return quantity(median, { ...RATIO, unit: '', digits: median < 10 ? 2 : 1 });
}

/** The page. @throws Error for an expression that names nothing there is */
export function pageText(
  template: string,
  scenarios: readonly Scenario[],
  results: readonly Measured[],
): string {
  const rows = goalRows(scenarios, results);
  const missed = rows.filter(({ verdict }) => verdict.includes('not'));
  const parts: Record<string, string> = {
    goals: goalTable(rows),
    reached: String(rows.filter(({ verdict }) => verdict === 'reached').length),
    count: String(rows.length),
    missed: missed.map(({ work, measured }) => `${work} (${measured})`).join('; ') || 'nothing',
    tables: results.map(section).join('\n\n'),
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
