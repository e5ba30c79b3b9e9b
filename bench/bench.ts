import { compareScenario, type Earlier } from './compare';
import { writePage } from './page';
import { FULL, PAIRS, QUICK, type Plan } from './plan';
import { comparisonText, resultText } from './report';
import { readSetting, settingText, writeResult } from './results';
import { runRounds } from './rounds';
import type { Scenario } from './scenario';
import { scenariosOf } from './scenarios';

/* `npm run bench`: see docs/inside/performance.md. */

/** What a run does. */
export interface Options {
  quick: boolean;
  /** Scenarios, by their names or the first words of these; none: all. */
  only: string[];
  rounds?: number;
  /** Whether the results go to bench/results and docs/inside/performance.md. */
  record: boolean;
  /** Writes the page again from what is recorded, and measures nothing. */
  page: boolean;
  against?: Earlier;
}

function choose(plan: Plan, { only, against }: Options): Scenario[] {
  // What grows with time takes longer to see than a comparison lasts.
  const all = scenariosOf(plan).filter(
    ({ columns }) => !against || columns.some(({ better }) => better),
  );
  const chosen = all.filter(
    ({ name }) => only.length === 0 || only.some((start) => `${name}-`.startsWith(`${start}-`)),
  );
  if (chosen.length > 0) return chosen;
  throw new Error(`Choose from these scenarios: ${all.map(({ name }) => name).join(', ')}.`);
}

/** @returns whether all is well: with `against`, that nothing has become worse */
export async function bench(options: Options): Promise<boolean> {
  const { quick, rounds, record, page, against } = options;
  if (page) writePage(scenariosOf(FULL));
  if (page) return true;
  const plan = {
    ...(against ? PAIRS : quick ? QUICK : FULL),
    ...(rounds === undefined ? {} : { rounds, channelRounds: rounds }),
  };
  let worse = false;
  for (const scenario of choose(plan, options)) {
    if (against) {
      const comparisons = await compareScenario(scenario, plan, against);
      worse ||= comparisons.some(({ verdict }) => verdict === 'WORSE');
      console.log(`\n${comparisons.map(comparisonText).join('\n')}\n`);
    } else {
      const rows = await runRounds(scenario, scenario.subjects, plan);
      if (record) writeResult({ scenario, rows, setting: readSetting() });
      console.log(`\n${resultText({ scenario, rows })}\n`);
    }
  }
  console.log(`${settingText(readSetting())}.`);
  if (record) writePage(scenariosOf(FULL));
  return !worse;
}
