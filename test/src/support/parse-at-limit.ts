import { parseJson } from '../../../src/util/json';
import { CONTENTS } from './json-contents';

/** A process of its own: parses one content as long as an answer may be, and tells how it went. */
export interface Parsed {
  outcome: string;
  /**
   * Milliseconds of work, which other processes do not lengthen: decoding and JSON.parse alone, where
   * that is bearable, and ours.
   */
  bare: number | undefined;
  ours: number;
}

const timed = (parse: () => unknown): [ms: number, outcome: string] => {
  const start = process.cpuUsage();
  let outcome: string;
  try {
    const value = parse();
    outcome = Array.isArray(value) ? `an array of ${value.length}` : typeof value;
  } catch (error) {
    outcome = error instanceof Error ? error.message : String(error);
  }
  const { user, system } = process.cpuUsage(start);
  return [(user + system) / 1000, outcome];
};

const { make, refused } = CONTENTS[process.argv[2] ?? ''] ?? { make: () => Buffer.alloc(0) };
const bytes = make();
const [ours, outcome] = timed(() => parseJson(bytes));
// What is refused may take half a minute and gigabytes to be parsed.
const bare = refused ? undefined : timed(() => JSON.parse(bytes.toString('utf8')))[0];
process.stdout.write(JSON.stringify({ outcome, bare, ours } satisfies Parsed));
