import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { compareScenario, type Earlier } from './compare';
import { repository } from './identity';
import { FULL, QUICK } from './plan';
import { comparisonText, resultText } from './report';
import { runRounds } from './rounds';
import { scenariosOf } from './scenarios';

/* `npm run bench`: see docs/performance.md. */

/** What a run does. */
export interface Options {
  quick: boolean;
  /** Scenarios, by their names or the first words of these; none: all. */
  only: string[];
  rounds?: number;
  /** Whether each subject writes a CPU profile. */
  profile: boolean;
  against?: Earlier;
}

const FOLDER = join(repository, '.cache', 'bench');

function setting(): string {
  const { length: cores, 0: cpu } = cpus();
  const { version } = createRequire(__filename)('node-red/package.json') as { version: string };
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, Node.js ${process.version}, Node-RED ${version}, ${cores} × ${cpu?.model.trim()}.`;
}

/** @returns whether all is well: with `against`, that nothing has become worse */
export async function bench({ quick, only, rounds, profile, against }: Options): Promise<boolean> {
  const plan = {
    ...(quick || against ? QUICK : FULL),
    ...(rounds === undefined ? {} : { rounds, channelRounds: rounds }),
  };
  const flags = profile ? ['--cpu-prof', `--cpu-prof-dir=${join(FOLDER, 'profiles')}`] : [];
  // What grows with time takes longer to see than a comparison lasts.
  const all = scenariosOf(plan).filter(
    ({ columns }) => !against || columns.some(({ better }) => better),
  );
  const scenarios = all.filter(
    ({ name }) => only.length === 0 || only.some((start) => `${name}-`.startsWith(`${start}-`)),
  );
  if (scenarios.length === 0) {
    throw new Error(`Choose from these scenarios: ${all.map(({ name }) => name).join(', ')}.`);
  }
  const texts: string[] = [];
  const say = (text: string): void => {
    texts.push(text);
    console.log(`\n${text}\n`);
  };
  let worse = false;
  for (const scenario of scenarios) {
    if (against) {
      const comparisons = await compareScenario(scenario, plan, against, flags);
      worse ||= comparisons.some(({ verdict }) => verdict === 'WORSE');
      say(comparisons.map(comparisonText).join('\n'));
    } else {
      const rows = await runRounds(scenario, scenario.subjects, plan, flags);
      say(resultText({ scenario, rows }));
    }
  }
  say(setting());
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, against ? 'against.md' : 'results.md');
  writeFileSync(file, `${texts.join('\n\n')}\n`);
  console.log(`Written to ${file}.`);
  return !worse;
}
