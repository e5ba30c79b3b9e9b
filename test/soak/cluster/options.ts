import { parseArgs } from 'node:util';
import { positive } from '../options';
import { NONE } from './none';
import type { Row } from './row';
import { ROWS } from './rows';

/** How the soak of a cluster is run. */
export interface ClusterOptions {
  rows: (Row | typeof NONE)[];
  /** Minutes of each row; default: the row's own. */
  minutes: number | undefined;
  /** Seconds. */
  lease: number;
  /** Repeats the uploads. */
  seed: string;
  /** Whether docs/inside/cluster.md gets the rows that were run whole. */
  record: boolean;
  /** Whether the processes run the client library alone: only for rows with one Redis and a listener. */
  library: boolean;
}

/** The lease for which the goals are set, in seconds. */
export const LEASE = 5;

/** All that there are, in the order of the table. */
export const ALL: readonly (Row | typeof NONE)[] = [...ROWS, NONE];

function rowsOf(text: string): ClusterOptions['rows'] {
  return text.split(',').map((name) => {
    const row = ALL.find((each) => each.name === name.trim());
    if (row) return row;
    const names = ALL.map((each) => each.name).join(', ');
    throw new Error(`--only must be some of ${names}, but is ${text}.`);
  });
}

/**
 * Reads the command line: `--cluster --only kill,stop --minutes 1 --lease 5 --seed 1 --record`.
 * @throws Error that says what is wrong
 */
export function readClusterOptions(args: string[]): ClusterOptions {
  const { values } = parseArgs({
    args,
    options: {
      cluster: { type: 'boolean' },
      only: { type: 'string' },
      minutes: { type: 'string' },
      lease: { type: 'string', default: String(LEASE) },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      library: { type: 'boolean', default: false },
      record: { type: 'boolean', default: true },
    },
    allowNegative: true,
  });
  const { only, minutes } = values;
  return {
    rows: only === undefined ? [...ALL] : rowsOf(only),
    minutes: minutes === undefined ? undefined : positive('minutes', minutes, 24 * 60),
    lease: positive('lease', values.lease, 60),
    seed: values.seed,
    library: values.library,
    record: values.record && !values.library,
  };
}
