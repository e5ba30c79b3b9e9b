/** Something that a row is to reach. */
export interface Goal {
  name: string;
  measured: string;
  limit: string;
  isReached: boolean;
}

/** What a row gave, as people read it. */
export interface Result {
  title: string;
  /** Undefined where a run has no length. */
  minutes: number | undefined;
  uploads: string;
  lost: string;
  doubled: string;
  goals: readonly Goal[];
  /** The machine's load before the run, as an average of a minute. */
  load: number;
}

/** A count with its limit. */
export const atMost = (name: string, value: number, limit: number): Goal => ({
  name,
  measured: String(value),
  limit: limit === 0 ? '0' : `≤ ${limit}`,
  isReached: value <= limit,
});
