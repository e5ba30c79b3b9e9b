import { createContext, Script, type Context } from 'node:vm';

/** Milliseconds that all patterns together may take on one upload, or in one evaluation of an expression. */
const TOTAL = 200;

/** Milliseconds of one run that do not count: a run with a time limit takes 0.1 to 0.3, whatever the pattern. */
const OVERHEAD = 0.5;

/** A pattern that was stopped after fewer milliseconds may be a good one, for which others have left too little time. */
const FAIR = 50;

/** The longest pattern, in characters: to compile one cannot be interrupted. */
export const MAX_PATTERN = 1000;

/** Why a pattern cannot be run, without a full stop. */
export class PatternFailed extends Error {}

const tookTooLong = (ms: number): Error =>
  ms >= FAIR
    ? new PatternFailed(
        `the pattern took more than ${ms} ms on one text and was stopped: it backtracks too much. ` +
          'Make it more exact, without a repetition inside a repetition',
      )
    : new Error(`other patterns have taken the ${TOTAL} ms that patterns may take on one upload`);

const RUN = new Script('work()');

/** Made when it is first needed, which takes a millisecond; it holds something only while work runs. */
let context: Context | undefined;

/** Runs work for at most some milliseconds: V8 interrupts it. @throws an error with a code if it takes longer */
function within<T>(ms: number, work: () => T): T {
  const running = (context ??= createContext({}));
  running['work'] = work;
  try {
    return RUN.runInContext(running, { timeout: ms }) as T;
  } finally {
    delete running['work'];
  }
}

function isTimeout(thrown: unknown): boolean {
  return (
    typeof thrown === 'object' &&
    thrown !== null &&
    (thrown as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/** A repeated group, or a reference to one: the number of steps may double with each character. */
const MAY_DOUBLE = /\)[*+?{]|\\[1-9k]/;
/** What may match in as many ways as the text is long: each `*`, `+`, `?` and `{`, but the `?` of `(?:`. */
const REPEATS = /[*+{]|(?<!(?<!\\)\()\?/g;
const BRANCHES = /\|/g;
const QUICK_STEPS = 100_000;

/**
 * Whether a pattern cannot take long, whatever the text of that length: it runs without a time limit then, which is a
 * thousand times as quick. An expression may run thousands on short texts.
 */
function isQuick({ source }: RegExp, length: number): boolean {
  if (MAY_DOUBLE.test(source)) return false;
  const repeats = source.match(REPEATS)?.length ?? 0;
  const branches = source.match(BRANCHES)?.length ?? 0;
  return (length + 1) ** (repeats + 1) * 2 ** branches * source.length <= QUICK_STEPS;
}

function matchesOf(pattern: RegExp, text: string, max: number): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  while (found.length < max) {
    const match = pattern.exec(text);
    if (!match) break;
    found.push(match);
    // A global pattern would match the same place again without end.
    if (match[0] === '') break;
  }
  return found;
}

/**
 * The time that regular expressions may take on one upload. One such as `^(a+)+$` would run for years on a text of 40
 * letters, and the process does nothing else meanwhile; V8 interrupts it where a script runs with a time-out. Each pattern
 * gets half of the time left, so that a pattern that backtracks leaves enough for the others. The alternatives are a package of
 * its own (RE2, native or 300 KB of WebAssembly, without look-around), a worker for each run, or an experimental flag
 * of V8 for the whole process.
 */
export class PatternBudget {
  #left = TOTAL;
  /** The patterns that were stopped, and why: none is tried twice. */
  #stopped: Map<string, Error> | undefined;

  /**
   * Runs a pattern on a text.
   * @param pattern its `lastIndex` counts if it is global
   * @param max how many matches are wanted at most; more than one only of a global pattern
   * @returns the matches; an empty one is the last
   * @throws PatternFailed if it backtracks too much, or V8 refuses it; another error if no time is left for it
   */
  find(pattern: RegExp, text: string, max = 1): RegExpExecArray[] {
    if (isQuick(pattern, text.length)) return matchesOf(pattern, text, max);
    const key = String(pattern);
    const stopped = this.#stopped?.get(key);
    if (stopped) throw stopped;
    const limit = Math.max(1, Math.round(this.#left / 2));
    if (this.#left <= 0) throw tookTooLong(0);
    const began = performance.now();
    try {
      return within(limit, () => matchesOf(pattern, text, max));
    } catch (thrown) {
      const error = isTimeout(thrown)
        ? tookTooLong(limit)
        : new PatternFailed('the pattern cannot be run: it is too large. Make it shorter');
      (this.#stopped ??= new Map()).set(key, error);
      throw error;
    } finally {
      // No more than its limit: a busy machine must leave as much for the others.
      this.#left -= Math.min(limit, Math.max(0, performance.now() - began - OVERHEAD));
    }
  }
}
