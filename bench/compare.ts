import type { Plan } from './plan';
import { runRounds, type Entry } from './rounds';
import type { Scenario } from './scenario';
import { ratios, summarize, type Summary } from './statistics';

/** A version to compare with, and the folder in which it is built. */
export interface Earlier {
  ref: string;
  folder: string;
}

/** How the present version stands to an earlier one. */
export interface Comparison {
  /** Scenario, subject and column. */
  what: string;
  /** The present by the earlier version: above 1 is worse, whichever way the column counts. */
  ratio: Summary;
  /** The earlier version by itself: what the machine makes of no change at all. */
  same: Summary;
  verdict: 'WORSE' | 'better' | 'no difference';
}

/** One column, a value a round: of the earlier version, the present one, and the earlier one again. */
export interface Rounds {
  before: readonly number[];
  now: readonly number[];
  again: readonly number[];
}

/** Less than that is no reason to change anything, however quiet the machine is. */
const NEGLIGIBLE = 0.02;

/**
 * Tells a change from noise: it is one if the median of the ratios is further from 1 than any ratio
 * of the earlier version to itself in the same run.
 */
export function compare(
  { before, now, again }: Rounds,
  better: 'lower' | 'higher',
): Omit<Comparison, 'what'> {
  const around = before.map((value, round) => Math.sqrt(value * (again[round] ?? NaN)));
  const ratio = summarize(better === 'lower' ? ratios(now, around) : ratios(around, now));
  const same = summarize(ratios(again, before));
  const noise = Math.max(1 + NEGLIGIBLE, same.most, 1 / same.least);
  const { median } = ratio;
  return {
    ratio,
    same,
    verdict: median > noise ? 'WORSE' : median < 1 / noise ? 'better' : 'no difference',
  };
}

/**
 * Runs the earlier version before and after the present one, and compares the columns of which it is
 * known what is better.
 */
export async function compareScenario(
  scenario: Scenario,
  plan: Plan,
  { ref, folder }: Earlier,
  flags: string[],
): Promise<Comparison[]> {
  const columns = scenario.columns.filter(({ better }) => better);
  const ours = scenario.subjects.filter(({ name }) => name.startsWith('ours'));
  const entries = ours.flatMap((subject): Entry[] => {
    const before = { ...subject, label: `${subject.label}, ${ref}`, packageFolder: folder };
    return [before, subject, before];
  });
  const rows = await runRounds(scenario, entries, plan, flags);
  return ours.flatMap((subject, index) =>
    columns.map(({ key, label, better = 'lower' }) => {
      const valuesAt = (run: number): number[] => rows[index * 3 + run]?.values[key] ?? [];
      const rounds = { before: valuesAt(0), now: valuesAt(1), again: valuesAt(2) };
      const what = `${scenario.name}, ${subject.label}: ${label}`;
      return { what, ...compare(rounds, better) };
    }),
  );
}
