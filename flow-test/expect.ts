import { nameOf } from './flows';
import type { FlowNode } from './protocol';
import { concerns, differs, wordsOf, wordsOfSeen, type Seen } from './seen';
import type { Expected, Sight } from './tests';

/** How an expectation stands: met, not yet, or failed for good. */
type Standing = 'met' | 'open' | 'failed';

/** What the expectations of a test are judged by. */
export interface Evidence {
  readonly seen: readonly Seen[];
  /** When the test began, and when everything that was given had happened, ms since 1970. */
  readonly begin: number;
  readonly given: number;
  readonly now: number;
  /** The level of a pin now. */
  level(chipid: string, pin: number): 0 | 1;
}

/** Seconds that something may take unless the test says otherwise. */
const WITHIN = 5;
const MAX_LISTED = 8;

/** Judges what a test has seen. */
export class Judge {
  readonly #expect: readonly Expected[];
  readonly #nodes: readonly FlowNode[];

  constructor(expect: readonly Expected[], nodes: readonly FlowNode[]) {
    this.#expect = expect;
    this.#nodes = nodes;
  }

  /** Whether nothing can change the verdict any more. */
  isOver(evidence: Evidence): boolean {
    return this.#expect.every((each) => this.#standing(each, evidence) !== 'open');
  }

  /** Why expectations have failed. */
  failures(evidence: Evidence): string[] {
    const unmet = this.#expect.filter((each) => this.#standing(each, evidence) === 'failed');
    return unmet.map((expected) => this.#explain(expected, evidence));
  }

  #is(sight: Sight, seen: Seen): boolean {
    return concerns(sight, seen, this.#nodes) && differs(sight, seen) === undefined;
  }

  #standing(expected: Expected, { seen, given, now, level }: Evidence): Standing {
    if (expected.kind === 'noError')
      return seen.some(({ kind }) => kind === 'error') ? 'failed' : 'met';
    if (expected.kind === 'none') {
      const end = given + expected.for * 1000;
      const { sights } = expected;
      if (seen.some((each) => each.at <= end && sights.some((sight) => this.#is(sight, each))))
        return 'failed';
      return now >= end ? 'met' : 'open';
    }
    const deadline = given + (expected.within ?? WITHIN) * 1000;
    const found = seen.filter((each) => each.at <= deadline && this.#is(expected, each)).length;
    const isLate = now >= deadline;
    if (expected.kind === 'message' && expected.count !== undefined) {
      if (found > expected.count) return 'failed';
      if (!isLate) return 'open';
      return found === expected.count ? 'met' : 'failed';
    }
    if (found > 0) return 'met';
    if (!isLate) return 'open';
    // Nothing has set it, but it may have the level all along.
    const isSo = expected.kind === 'pin' && level(expected.chipid, expected.pin) === expected.level;
    return isSo ? 'met' : 'failed';
  }

  #explain(expected: Expected, evidence: Evidence): string {
    const { seen } = evidence;
    if (expected.kind === 'noError') {
      const errors = seen.filter(({ kind }) => kind === 'error');
      return ['expected no error, but there was', ...this.#list(errors, evidence)].join('\n');
    }
    if (expected.kind === 'none') {
      const found = seen.filter((each) => expected.sights.some((sight) => this.#is(sight, each)));
      const what = `not ${expected.sights.map(wordsOf).join(', and not ')}`;
      return [`expected ${what}, but there was`, ...this.#list(found, evidence)].join('\n');
    }
    const about = seen.filter((each) => concerns(expected, each, this.#nodes));
    const head = `expected ${wordsOf(expected)}, within ${expected.within ?? WITHIN} s`;
    const isPin = expected.kind === 'pin';
    const level = isPin ? `; it is ${evidence.level(expected.chipid, expected.pin)}` : '';
    if (about.length === 0) return `${head}\nthere was none${level}`;
    return [`${head}\nwhat came instead${level}:`, ...this.#list(about, evidence, expected)].join(
      '\n',
    );
  }

  #list(seen: readonly Seen[], { begin }: Evidence, sight?: Sight): string[] {
    const lines = seen.slice(0, MAX_LISTED).map((each) => {
      const why = sight && differs(sight, each);
      const where = each.kind === 'error' ? `"${nameOf(this.#nodes, each.node)}": ` : '';
      const reason = why === undefined ? '' : ` (${why})`;
      return `  at ${((each.at - begin) / 1000).toFixed(2)} s ${where}${wordsOfSeen(each)}${reason}`;
    });
    const more = seen.length - lines.length;
    return more > 0 ? [...lines, `  and ${more} more`] : lines;
  }
}
