import type { Plan } from './plan';
import type { ServiceClient } from './service/client';

/** One that runs a scenario. */
export interface Subject {
  /** `limit…`, `bare`: a bare program; `floor`: the same inside a bare node; `core`: Node-RED's own nodes; `ours…`. */
  name: string;
  label: string;
}

/** A number that is measured of each subject. */
export interface Column {
  key: string;
  label: string;
  unit: string;
  digits: number;
  /** Which is better; without it, two versions of the package are not compared by this column. */
  better?: 'lower' | 'higher';
}

/** What a subject is to reach in a column. */
export interface Goal {
  of: string;
  /** The subject whose value is the measure of the goal; without one, the goal is in the column's unit. */
  by?: string;
  column: string;
  most?: number;
  least?: number;
}

/** One value for each column. */
export type Values = Record<string, number>;

/** What a subject gets to work with, in its own process. */
export interface Job {
  subject: string;
  plan: Plan;
  service: ServiceClient;
  /** Folder of the built package, of which there may be two versions. */
  packageFolder: string;
  /** Measures once or, where two versions are compared, in turn with the other. @returns the medians */
  repeat: (measure: () => Promise<Values>) => Promise<Values>;
}

/** One task that all its subjects do. */
export interface Scenario {
  name: string;
  title: string;
  subjects: readonly Subject[];
  columns: readonly Column[];
  goals: readonly Goal[];
  rounds: number;
  /** What it measures otherwise than the others. */
  plan?: Partial<Plan>;
  /** Measures one subject once. Runs in a new process each time. */
  measure: (job: Job) => Promise<Values>;
}

/** A subject and what was measured of it: a value a round for each column. */
export interface Row extends Subject {
  values: Record<string, number[]>;
}

/** A scenario that was measured. */
export interface Result {
  scenario: Scenario;
  rows: readonly Row[];
}

export const column = (
  key: string,
  label: string,
  unit: string,
  digits: number,
  better?: 'lower' | 'higher',
): Column => ({ key, label, unit, digits, ...(better && { better }) });

export const CPU = column('cpu', 'CPU each', 'µs', 1, 'lower');
export const RATE = column('rate', 'a second', '', 0);
/** Shows that the service was quicker than what was measured on it. */
export const SERVICE = column('service', "service's CPU each", 'µs', 1);
