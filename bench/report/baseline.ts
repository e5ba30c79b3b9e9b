import type { Check } from './results';
import { median, spread } from './statistics';

/** The ratios of an earlier run, by the check's id. */
export type Baseline = Record<string, { median: number; spread: number }>;

/** Machines differ a little in every ratio. */
const ALWAYS = 0.2;
/** With so much noise a run tells nothing. */
const TOO_MUCH = 1;

/** How a ratio stands to the one of an earlier run. */
export interface Comparison {
  /** In words. */
  text: string;
  /** Whether it has become worse by more than noise explains. */
  worse: boolean;
}

const percent = (part: number): string =>
  `${part < 0 ? '−' : '+'}${Math.round(Math.abs(part) * 100)} %`;

/** Only ratios can be held against those of another machine. */
const comparable = ({ unit }: Check): boolean => unit === '×';

export const baselineOf = (checks: readonly Check[]): Baseline =>
  Object.fromEntries(
    checks.filter(comparable).map(({ id, values }) => {
      const rounded = (value: number): number => Number(value.toPrecision(3));
      return [id, { median: rounded(median(values)), spread: rounded(spread(values)) }];
    }),
  );

/** Holds a ratio against the earlier one: lower is better, unless the check asks for at least so much. */
export function compare(check: Check, baseline: Baseline): Comparison | undefined {
  const earlier = baseline[check.id];
  if (!comparable(check) || !earlier) return undefined;
  const now = median(check.values);
  const change = now / earlier.median - 1;
  const loss = check.least === undefined ? change : earlier.median / now - 1;
  const noise = Math.max(ALWAYS, earlier.spread, spread(check.values));
  const text = `${check.text}: ${now.toFixed(2)}×, was ${earlier.median}× (${percent(change)})`;
  if (loss > noise) {
    return { text: `${text}. WORSE, beyond the noise of ${percent(noise)}.`, worse: true };
  }
  if (noise > TOO_MUCH) return { text: `${text}. The machine is too noisy to tell.`, worse: false };
  if (loss < -noise) return { text: `${text}. Better, beyond the noise of ${percent(noise)}.`, worse: false }; // prettier-ignore
  return { text: `${text}. Within the noise of ${percent(noise)}.`, worse: false };
}
