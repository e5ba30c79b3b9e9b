import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareScenario, type Earlier } from './compare';
import { writePage } from './page';
import { FULL, PAIRS, QUICK, type Plan } from './plan';
import { comparisonText, resultText } from './report';
import { LATEST, readSetting, RECORDED, settingText, writeResult } from './results';
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
  /** Whether each subject writes a CPU profile. */
  profile: boolean;
  /** Whether the results go to docs/inside/performance.md. */
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
  const { quick, rounds, profile, record, page, against } = options;
  if (page) writePage(scenariosOf(FULL));
  if (page) return true;
  const plan = {
    ...(against ? PAIRS : quick ? QUICK : FULL),
    ...(rounds === undefined ? {} : { rounds, channelRounds: rounds }),
  };
  const flags = profile ? ['--cpu-prof', `--cpu-prof-dir=${join(LATEST, 'profiles')}`] : [];
  const texts: string[] = [];
  const say = (text: string): void => {
    texts.push(text);
    console.log(`\n${text}\n`);
  };
  let worse = false;
  for (const scenario of choose(plan, options)) {
    if (against) {
      const comparisons = await compareScenario(scenario, plan, against, flags);
      worse ||= comparisons.some(({ verdict }) => verdict === 'WORSE');
      say(comparisons.map(comparisonText).join('\n'));
    } else {
      const rows = await runRounds(scenario, scenario.subjects, plan, flags);
      writeResult(record ? RECORDED : LATEST, { scenario, rows, setting: readSetting() });
      say(resultText({ scenario, rows }));
    }
  }
  say(`${settingText(readSetting())}.`);
  mkdirSync(LATEST, { recursive: true });
  const file = join(LATEST, against ? 'against.md' : 'results.md');
  writeFileSync(file, `${texts.join('\n\n')}\n`);
  console.log(`Written to ${file}.`);
  if (record) writePage(scenariosOf(FULL));
  return !worse;
}
