import { concerns, differs, wordsOf, wordsOfSeen, type Resolve, type Seen } from './seen';
import type { Expected, FlowTest, Sight } from './tests';

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

const ERROR_LIMIT = 5;
const SEEN_LIMIT = 8;

/** Judges what a test has seen. */
export class Judge {
  readonly #test: Pick<FlowTest, 'expect' | 'inOrder'>;
  readonly #resolve: Resolve;
  readonly #nameOf: (node: string) => string;
  /** What is one, for each sight: the same thousands of messages are judged every few milliseconds. */
  readonly #known = new Map<Sight, WeakMap<Seen, boolean>>();

  constructor(
    test: Pick<FlowTest, 'expect' | 'inOrder'>,
    resolve: Resolve,
    nameOf: (node: string) => string,
  ) {
    this.#test = test;
    this.#resolve = resolve;
    this.#nameOf = nameOf;
  }

  /** Whether nothing can change the verdict any more. */
  isOver(evidence: Evidence): boolean {
    return !this.#standings(evidence).includes('open');
  }

  /** Why expectations have failed. */
  failures(evidence: Evidence): string[] {
    const standings = this.#standings(evidence);
    const unmet = this.#test.expect.filter((_, index) => standings[index] === 'failed');
    return unmet.map((expected) => this.#explain(expected, evidence));
  }

  #standings(evidence: Evidence): Standing[] {
    const { expect, inOrder } = this.#test;
    let after = 0;
    const used = new Set<Seen>();
    return expect.map((expected) => {
      if (!inOrder || expected.kind !== 'some') return this.#standing(expected, evidence);
      const seen = evidence.seen.filter((each) => each.at >= after && !used.has(each));
      const first = seen.find((each) => this.#is(expected.sight, each));
      if (first) {
        after = first.at;
        used.add(first);
      }
      return this.#standing(expected, { ...evidence, seen });
    });
  }

  #is(sight: Sight, seen: Seen): boolean {
    const known = this.#known.get(sight) ?? new WeakMap<Seen, boolean>();
    this.#known.set(sight, known);
    const is =
      known.get(seen) ??
      (concerns(sight, seen, this.#resolve) && differs(sight, seen) === undefined);
    known.set(seen, is);
    return is;
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
    const { sight, within } = expected;
    const deadline = given + within * 1000;
    const found = seen.filter((each) => each.at <= deadline && this.#is(sight, each)).length;
    const isLate = now >= deadline;
    if (sight.kind === 'message' && sight.count !== undefined) {
      if (found > sight.count) return 'failed';
      if (!isLate) return 'open';
      return found === sight.count ? 'met' : 'failed';
    }
    if (found > 0) return 'met';
    if (!isLate) return 'open';
    // Nothing has set it, but it may have the level all along.
    const isSo =
      sight.kind === 'pin' && !this.#test.inOrder && level(sight.chipid, sight.pin) === sight.level;
    return isSo ? 'met' : 'failed';
  }

  #explain(expected: Expected, evidence: Evidence): string {
    const { seen } = evidence;
    if (expected.kind === 'noError') {
      const errors = seen.filter(({ kind }) => kind === 'error');
      const list = this.#list(errors, evidence, ERROR_LIMIT);
      return ['expected no error, but there was', ...list].join('\n');
    }
    if (expected.kind === 'none') {
      const found = seen.filter((each) => expected.sights.some((sight) => this.#is(sight, each)));
      const what = `not ${expected.sights.map(wordsOf).join(', and not ')}`;
      return [`expected ${what}, but there was`, ...this.#list(found, evidence)].join('\n');
    }
    const { sight, within } = expected;
    const about = seen.filter((each) => concerns(sight, each, this.#resolve));
    const order = this.#test.inOrder ? ' after what comes before it' : '';
    const head = `expected ${wordsOf(sight)}${order}, within ${within} s`;
    const level = sight.kind === 'pin' ? `; it is ${evidence.level(sight.chipid, sight.pin)}` : '';
    if (about.length === 0) return `${head}\nthere was none${level}`;
    return [
      `${head}\nwhat came instead${level}:`,
      ...this.#list(about, evidence, SEEN_LIMIT, sight),
    ].join('\n');
  }

  #list(seen: readonly Seen[], { begin }: Evidence, limit = SEEN_LIMIT, sight?: Sight): string[] {
    const lines = seen.slice(0, limit).map((each) => {
      const why = sight && differs(sight, each);
      const where = each.kind === 'error' ? `"${this.#nameOf(each.node)}": ` : '';
      const reason = why === undefined ? '' : ` (${why})`;
      return `  at ${((each.at - begin) / 1000).toFixed(2)} s ${where}${wordsOfSeen(each)}${reason}`;
    });
    return seen.length > limit ? [...lines, `  and ${seen.length - limit} more`] : lines;
  }
}
