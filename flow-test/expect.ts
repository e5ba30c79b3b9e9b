import { concerns, differs, wordsOf, wordsOfSeen, type Resolve, type Seen } from './seen';
import type { Expected, FlowTest, Sight } from './tests';

/** How an expectation stands: met, not yet, or failed for good. */
type Standing = { state: 'met'; at: number } | { state: 'open' } | { state: 'failed' };

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
  readonly #test: FlowTest;
  readonly #resolve: Resolve;
  readonly #nameOf: (node: string) => string;

  constructor(test: FlowTest, resolve: Resolve, nameOf: (node: string) => string) {
    this.#test = test;
    this.#resolve = resolve;
    this.#nameOf = nameOf;
  }

  /** The expectations that have failed, why, and whether nothing can change that any more. */
  open(evidence: Evidence): { isOver: boolean; unmet: readonly Expected[]; failures: string[] } {
    const standings = this.#judge(evidence);
    const unmet = this.#test.expect.filter((_, index) => standings[index]?.state === 'failed');
    return {
      isOver: standings.every(({ state }) => state !== 'open'),
      unmet,
      failures: unmet.map((expected) => this.#explain(expected, evidence)),
    };
  }

  #judge(evidence: Evidence): Standing[] {
    let after = 0;
    let earlier: readonly Seen[] = [];
    return this.#test.expect.map((expected) => {
      if (expected.kind !== 'some') return this.#absence(expected, evidence);
      const inOrder = this.#test.inOrder;
      const candidates = evidence.seen.filter(
        (seen) => !inOrder || (seen.at >= after && !earlier.includes(seen)),
      );
      const standing = this.#presence(expected, candidates, evidence);
      if (inOrder && standing.state === 'met') {
        after = standing.at;
        earlier = [
          ...earlier,
          ...candidates.filter((seen) => seen.at === after && this.#is(expected.sight, seen)),
        ];
      }
      return standing;
    });
  }

  #is(sight: Sight, seen: Seen): boolean {
    return concerns(sight, seen, this.#resolve) && differs(sight, seen) === undefined;
  }

  #presence(
    expected: Expected & { kind: 'some' },
    candidates: readonly Seen[],
    evidence: Evidence,
  ): Standing {
    const { sight, within } = expected;
    const deadline = evidence.given + within * 1000;
    const found = candidates.filter((seen) => seen.at <= deadline && this.#is(sight, seen));
    const isLate = evidence.now >= deadline;
    if (sight.kind === 'message' && sight.count !== undefined) {
      if (found.length > sight.count) return { state: 'failed' };
      if (!isLate) return { state: 'open' };
      return found.length === sight.count
        ? { state: 'met', at: found.at(-1)?.at ?? 0 }
        : { state: 'failed' };
    }
    const [first] = found;
    if (first) return { state: 'met', at: first.at };
    if (!isLate) return { state: 'open' };
    // Nothing has set it, but it may have the level all along.
    if (
      sight.kind === 'pin' &&
      !this.#test.inOrder &&
      evidence.level(sight.chipid, sight.pin) === sight.level
    )
      return { state: 'met', at: evidence.now };
    return { state: 'failed' };
  }

  #absence(
    expected: Expected & { kind: 'none' | 'noError' },
    { seen, given, now }: Evidence,
  ): Standing {
    if (expected.kind === 'noError')
      return seen.some(({ kind }) => kind === 'error')
        ? { state: 'failed' }
        : { state: 'met', at: now };
    const { sights, for: seconds } = expected;
    const end = given + seconds * 1000;
    if (seen.some((each) => each.at <= end && sights.some((sight) => this.#is(sight, each))))
      return { state: 'failed' };
    return now >= end ? { state: 'met', at: now } : { state: 'open' };
  }

  #explain(expected: Expected, evidence: Evidence): string {
    const { seen } = evidence;
    if (expected.kind === 'noError') {
      const errors = seen.filter(({ kind }) => kind === 'error');
      return [
        'expected no error, but there was',
        ...this.#list(errors, evidence, ERROR_LIMIT),
      ].join('\n');
    }
    if (expected.kind === 'none') {
      const found = seen.filter((each) => expected.sights.some((sight) => this.#is(sight, each)));
      const what = expected.sights.map(wordsOf).join(', nor ');
      return [`expected neither ${what}, but there was`, ...this.#list(found, evidence)]
        .join('\n')
        .replace('neither', expected.sights.length > 1 ? 'neither' : 'not');
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
