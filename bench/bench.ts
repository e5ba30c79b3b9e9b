import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compareScenario } from './compare';
import { writePage } from './page';
import { FULL, PAIRS, QUICK, type Plan } from './plan';
import { comparisonText, resultText } from './report';
import { readSetting, settingText, writeResult } from './results';
import { runRounds } from './rounds';
import type { Scenario } from './scenario';
import { scenariosOf } from './scenarios';

/* `npm run bench`: see docs/inside/performance.md. */

/** What a run does, as it was typed. @throws Error that says what is wrong */
function readOptions() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      rounds: { type: 'string' },
      record: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
      against: { type: 'string' },
    },
  });
  const { quick, record, page, against: folder } = values;
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))
    throw new Error(`--rounds must be a whole number from 1 on, not ${values.rounds}.`);
  if (record && (quick || folder !== undefined))
    throw new Error('--record needs a whole run: without --quick and --against.');
  if (folder !== undefined && !existsSync(join(folder, 'dist', 'src', 'index.js')))
    throw new Error(`--against needs the folder of a version that is built: ${folder} is not one.`);
  const against = folder ? { ref: folder, folder: resolve(folder) } : undefined;
  const only = values.only.split(',').filter((name) => name !== '');
  return { quick, only, rounds, record, page, against };
}

type Options = ReturnType<typeof readOptions>;

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

/** The exit code is 1 if something has become worse than in the version `against`. */
async function main(): Promise<void> {
  const options = readOptions();
  const { quick, rounds, record, page, against } = options;
  if (page) return writePage(scenariosOf(FULL));
  const plan = {
    ...(against ? PAIRS : quick ? QUICK : FULL),
    ...(rounds === undefined ? {} : { rounds, channelRounds: rounds }),
  };
  for (const scenario of choose(plan, options)) {
    if (against) {
      const comparisons = await compareScenario(scenario, plan, against);
      if (comparisons.some(({ verdict }) => verdict === 'WORSE')) process.exitCode = 1;
      console.log(`\n${comparisons.map(comparisonText).join('\n')}\n`);
    } else {
      const rows = await runRounds(scenario, scenario.subjects, plan);
      if (record) writeResult({ scenario, rows, setting: readSetting() });
      console.log(`\n${resultText({ scenario, rows })}\n`);
    }
  }
  console.log(`${settingText(readSetting())}.`);
  if (record) writePage(scenariosOf(FULL));
}

// Exit handlers must run: they end the subjects.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
