import type { Plan } from './plan';
import { runRounds, SubjectFailed, type Entry } from './rounds';
import type { Row, Scenario, Subject } from './scenario';
import { confident, ratios, type Summary } from './statistics';

/** A version to compare with, and the folder in which it is built. */
export interface Earlier {
  ref: string;
  folder: string;
}

export type Verdict = 'WORSE' | 'better' | 'no difference';

/** The present version compared with an earlier one. */
export interface Comparison {
  /** Scenario, subject and column. */
  what: string;
  /** The present by the earlier version: above 1 is worse, whichever way the column counts. Undefined if the earlier one cannot do it. */
  ratio?: Summary;
  verdict: Verdict | 'left out';
}

/** Less than that is no reason to change anything, however quiet the machine is. */
const NEGLIGIBLE = 1.02;

/**
 * A sign test of the ratios, one a round: a difference is one if nearly all rounds agree, as many as
 * chance makes agree in one case of twenty.
 */
export function judge(rounds: readonly number[]): Verdict {
  const { least, most } = confident(rounds);
  return least > NEGLIGIBLE ? 'WORSE' : most < 1 / NEGLIGIBLE ? 'better' : 'no difference';
}

/** Compares one subject, in the columns of which it is known what is better. @returns the ratios of each, one a round */
async function ratiosOf(
  scenario: Scenario,
  entries: readonly Entry[],
  plan: Plan,
): Promise<Map<string, number[]>> {
  const rows = await runRounds(scenario, entries, plan);
  const values = (row: Row | undefined, key: string): number[] => row?.values[key] ?? [];
  const found = new Map<string, number[]>();
  for (const { key, label, better } of scenario.columns) {
    const [before, now] = [values(rows[0], key), values(rows[1], key)];
    if (better) found.set(label, better === 'lower' ? ratios(now, before) : ratios(before, now));
  }
  return found;
}

async function compareSubject(
  scenario: Scenario,
  subject: Subject,
  plan: Plan,
  { ref, folder }: Earlier,
): Promise<Comparison[]> {
  const before: Entry = { ...subject, label: `${subject.label}, ${ref}`, packageFolder: folder };
  const measure = (): ReturnType<typeof ratiosOf> => ratiosOf(scenario, [before, subject], plan);
  const what = `${scenario.name}, ${subject.label}`;
  try {
    const first = await measure();
    const differs = [...first.values()].some((rounds) => judge(rounds) !== 'no difference');
    // What seems to differ is measured once more: of many columns, chance alone moves one now and then.
    const second = differs ? await measure() : undefined;
    return [...first].map(([label, rounds]) => {
      const again = second?.get(label) ?? [];
      const verdict = judge(rounds) === judge(again) ? judge(rounds) : 'no difference';
      return { what: `${what}: ${label}`, ratio: confident([...rounds, ...again]), verdict };
    });
  } catch (error) {
    if (!(error instanceof SubjectFailed && error.entry === before)) throw error;
    return [{ what: `${what}: ${ref} cannot run this`, verdict: 'left out' }];
  }
}

/** Compares each subject that is the package. */
export async function compareScenario(
  scenario: Scenario,
  plan: Plan,
  earlier: Earlier,
): Promise<Comparison[]> {
  const all: Comparison[] = [];
  for (const subject of scenario.subjects.filter(({ name }) => name.startsWith('ours'))) {
    all.push(...(await compareSubject(scenario, subject, plan, earlier)));
  }
  return all;
}
